import bias from '../../../shaders/lib/attention-bias.wgsl?raw';
import storeQuadScalar from '../../../shaders/lib/store-quad-scalar.wgsl?raw';
import storeQuadVector from '../../../shaders/lib/store-quad-vector.wgsl?raw';
import softmaxSource from '../../../shaders/attention-softmax.wgsl?raw';
import { wholeMatmulKernels } from '../linear/matmul-lowering.ts';
import type { MatmulProblem } from '../linear/matmul-problem.ts';
import { unroll } from '../linear/register-tile.ts';
import { readInput, invocationGrid, perInvocation } from '../lowering/element-kernel.ts';
import {
  type KernelRead,
  type KernelSpec,
  type ScratchOperand,
  u32,
} from '../lowering/lowering.ts';
import { rowGroupSize } from '../reduction/row-kernel.ts';
import type { AttentionProblem } from './attention-problem.ts';
import { attentionProducts } from './attention-shape.ts';

/** A product into memory, softmax in its place, and a product of that. */
export function attentionByProducts(problem: AttentionProblem): readonly KernelSpec[] {
  const { call, batch, keys } = problem;
  const from = {
    kind: 'scratch',
    index: 0,
    byteLength: Math.max(4, problem.allRows * keys * 4),
  } as const;
  const { scores, values } = attentionProducts(problem);
  const ofAll = (product: MatmulProblem) => ({ ...product, batch: [1, batch] });
  const input = (index: number) => ({ kind: 'input', index }) as const;
  const withReads = (kernel: KernelSpec, a: KernelRead['from'], b: number): KernelSpec => ({
    ...kernel,
    // No product has a bias: its hook is that of an input that there is not.
    reads: kernel.reads.map((read) => ({
      ...read,
      from: read.hook === 'a' ? a : input(read.hook === 'b' ? b : 4),
    })),
  });
  return [
    ...wholeMatmulKernels(ofAll(scores), call.caps).map((kernel) =>
      withBias(problem, {
        ...withReads(kernel, input(0), 1),
        writes: kernel.writes.map((write) => ({ ...write, to: from })),
      }),
    ),
    softmaxKernel(problem, from, { isCut: false }),
    ...wholeMatmulKernels(ofAll(values), call.caps).map((kernel) => withReads(kernel, from, 2)),
  ];
}

/** Softmax of scores in their place; if it is cut, only of keys that some query of the batch sees. */
export function softmaxKernel(
  problem: AttentionProblem,
  scores: ScratchOperand,
  { isCut }: { readonly isCut: boolean },
): KernelSpec {
  const { call, keys, allRows, rows, constants, params, bounds, boundReads } = problem;
  const groupSize = rowGroupSize(allRows, call.caps);
  const grid = invocationGrid(allRows, call.caps, groupSize);
  const isVector = keys % 4 === 0;
  const width = isVector ? 4 : 1;
  return {
    ...grid,
    name: 'attention-softmax',
    source:
      bounds +
      `fn four_scores(at: u32) -> vec4<f32> {
  return ${isVector ? 'load_scores4(at / 4u)' : `vec4<f32>(${unroll(4, (i) => `load_scores(at + ${i}u)`, ', ')})`};
}
` +
      perInvocation(softmaxSource) +
      (isVector ? storeQuadVector : storeQuadScalar),
    constants: {
      IS_CAUSAL: constants['IS_CAUSAL'] === true,
      IS_WHOLE: isVector && constants['IS_CAUSAL'] !== true,
      HAS_WINDOW: constants['HAS_WINDOW'] === true,
      IS_CUT: isCut,
    },
    params: { ...params, rows: u32(rows), ...grid.params },
    reads: [{ hook: 'scores', from: scores, width }, ...boundReads],
    writes: [{ hook: '', to: scores, width }],
  };
}

/** A product that caps its elements and adds the bias before it stores them. */
function withBias(problem: AttentionProblem, kernel: KernelSpec): KernelSpec {
  const { strides, constants } = problem;
  if (constants['HAS_BIAS'] !== true && constants['HAS_CAP'] !== true) return kernel;
  const isVector = problem.keys % 4 === 0;
  const isBiasVector = isVector && strides[3] === 1;
  const [suffix, type, count] = isVector ? ['4', 'vec4<f32>', 4] : ['', 'f32', 1];
  const element = (i: number) => `load_bias(start + (k + ${i}u) * params.bias_key)`;
  const biases = isBiasVector
    ? 'load_bias4((start + k) / 4u)'
    : `vec4<f32>(${unroll(count, element, ', ')})`;
  return {
    ...kernel,
    source: `fn store${suffix}(i: u32, value: ${type}) {
  let at = i * ${count}u;
  let row = at / params.keys;
  let k = at - row * params.keys;
  let head = row / params.queries;
  var x = capped(vec4<f32>(value));
  if (HAS_BIAS) {
    let start = bias_start(head, row - head * params.queries);
    x += ${biases};
  }
  store_score${suffix}(i, x${isVector ? '' : '.x'});
}
${bias}${kernel.source}`,
    constants: { ...kernel.constants, ...constants },
    params: { ...kernel.params, ...problem.params },
    reads: [...kernel.reads, readInput('bias', 3, isBiasVector ? 4 : 1)],
    writes: kernel.writes.map((write) => ({ ...write, hook: 'score' })),
  };
}
