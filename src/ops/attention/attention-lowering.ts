import bias from '../../../shaders/lib/attention-bias.wgsl?raw';
import storeQuadScalar from '../../../shaders/lib/store-quad-scalar.wgsl?raw';
import storeQuadVector from '../../../shaders/lib/store-quad-vector.wgsl?raw';
import mergeSource from '../../../shaders/attention-merge.wgsl?raw';
import softmaxSource from '../../../shaders/attention-softmax.wgsl?raw';
import tileSource from '../../../shaders/attention-tile.wgsl?raw';
import { elementCount } from '../../core/shape.ts';
import { dimsAttribute, floatAttribute } from '../attributes.ts';
import { foldGroups } from '../linear/fold-groups.ts';
import { wholeMatmulKernels } from '../linear/matmul-lowering.ts';
import type { MatmulProblem } from '../linear/matmul-problem.ts';
import { unroll } from '../linear/register-tile.ts';
import { splitGrid } from '../linear/split-grid.ts';
import {
  f32,
  type KernelRead,
  type KernelSpec,
  type KernelWrite,
  type LoweringCall,
  type ScratchOperand,
  u32,
} from '../lowering.ts';
import { rowGroupSize } from '../reduction/row-kernel.ts';
import {
  type AttentionSizes,
  type AttentionTile,
  BLOCK,
  chooseAttentionTile,
} from './attention-variant.ts';

interface Problem extends AttentionSizes {
  readonly call: LoweringCall;
  readonly scale: number;
  /** Rows of all heads. */
  readonly allRows: number;
  /** Strides of what is added, by axis, 0 where it is broadcast. */
  readonly strides: readonly number[];
  readonly constants: KernelSpec['constants'];
  readonly params: KernelSpec['params'];
}

/** Kernels of `scaled_dot_product_attention`: one and a second for parts, or three. */
export function lowerAttention(call: LoweringCall): readonly KernelSpec[] {
  const problem = problemOf(call);
  const tile = chooseAttentionTile(problem, call.caps);
  return tile === undefined ? productKernels(problem) : tileKernels(problem, tile);
}

function problemOf(call: LoweringCall): Problem {
  const { inputs, attributes } = call;
  const [query = [], key = [], value = [], added] = inputs.map((input) => input?.shape);
  const [batch = 0, heads = 0, queries = 0, size = 0] = query;
  const [, kvHeads = 0, keys = 0] = key;
  const [first] = dimsAttribute(attributes, 'causal').map(Number);
  const softcap = floatAttribute(attributes, 'softcap');
  const strides = [0, 1, 2, 3].map((axis) => {
    const shape = [1, 1, 1, 1, ...(added ?? [])].slice(-4);
    return shape[axis] === 1 ? 0 : elementCount(shape.slice(axis + 1));
  });
  const group = heads / Math.max(1, kvHeads);
  const names = ['bias_batch', 'bias_head', 'bias_query', 'bias_key'];
  return {
    call,
    batch: batch * kvHeads,
    rows: group * queries,
    keys,
    size,
    valueSize: value[3] ?? 0,
    scale: floatAttribute(attributes, 'scale'),
    allRows: batch * heads * queries,
    strides,
    constants: {
      HAS_BIAS: added !== undefined,
      HAS_CAP: softcap > 0,
      IS_CAUSAL: first !== undefined,
    },
    params: {
      heads: u32(heads),
      queries: u32(queries),
      keys: u32(keys),
      first: u32(first ?? 0),
      softcap: f32(softcap),
      ...Object.fromEntries(names.map((name, i) => [name, u32(strides[i] ?? 0)])),
    },
  };
}

/** A product into memory, softmax in its place, and a product of that. */
function productKernels(problem: Problem): readonly KernelSpec[] {
  const { call, batch, rows, keys, size, valueSize } = problem;
  const from = {
    kind: 'scratch',
    index: 0,
    byteLength: Math.max(4, problem.allRows * keys * 4),
  } as const;
  const shape = { batch: [1, batch], c: undefined, beta: 0, m: rows };
  const scores: MatmulProblem = {
    ...shape,
    n: keys,
    k: size,
    a: { batch: [0, rows * size], row: size, column: 1 },
    b: { batch: [0, keys * size], row: 1, column: size },
    alpha: problem.scale,
  };
  const values: MatmulProblem = {
    ...shape,
    n: valueSize,
    k: keys,
    a: { batch: [0, rows * keys], row: keys, column: 1 },
    b: { batch: [0, keys * valueSize], row: valueSize, column: 1 },
    alpha: 1,
  };
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
    ...wholeMatmulKernels(scores, call.caps).map((kernel) =>
      withBias(problem, {
        ...withReads(kernel, input(0), 1),
        writes: kernel.writes.map((write) => ({ ...write, to: from })),
      }),
    ),
    softmaxKernel(problem, from),
    ...wholeMatmulKernels(values, call.caps).map((kernel) => withReads(kernel, from, 2)),
  ];
}

function softmaxKernel(problem: Problem, scores: ScratchOperand): KernelSpec {
  const { call, keys, allRows, constants, params } = problem;
  const groupSize = rowGroupSize(allRows, call.caps);
  const grid = foldGroups(Math.ceil(allRows / groupSize), call.caps);
  const isVector = keys % 4 === 0;
  const width = isVector ? 4 : 1;
  return {
    name: 'attention-softmax',
    source:
      `fn four_scores(at: u32) -> vec4<f32> {
  return ${isVector ? 'load_scores4(at / 4u)' : `vec4<f32>(${unroll(4, (i) => `load_scores(at + ${i}u)`, ', ')})`};
}
` +
      softmaxSource +
      (isVector ? storeQuadVector : storeQuadScalar),
    constants: {
      IS_CAUSAL: constants['IS_CAUSAL'] === true,
      IS_WHOLE: isVector && constants['IS_CAUSAL'] !== true,
    },
    params: { ...params, count: u32(allRows), row_length: u32(grid.rowLength * groupSize) },
    workgroupSize: [groupSize, 1, 1],
    workgroups: grid.workgroups,
    reads: [{ hook: 'scores', from: scores, width }],
    writes: [{ hook: '', to: scores, width }],
  };
}

/** A product that caps its elements and adds the bias before it stores them. */
function withBias(problem: Problem, kernel: KernelSpec): KernelSpec {
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
    reads: [
      ...kernel.reads,
      { hook: 'bias', from: { kind: 'input', index: 3 }, width: isBiasVector ? 4 : 1 },
    ],
    writes: kernel.writes.map((write) => ({ ...write, hook: 'score' })),
  };
}

function tileKernels(problem: Problem, tile: AttentionTile): readonly KernelSpec[] {
  const { call, batch, rows, keys, size, valueSize, allRows } = problem;
  const { lanes, parts } = tile;
  const quads = Math.ceil(valueSize / 4);
  const isWhole = valueSize % 4 === 0;
  const storeQuad = isWhole ? storeQuadVector : storeQuadScalar;
  const output: KernelWrite = { hook: '', to: { kind: 'output' }, width: isWhole ? 4 : 1 };
  const byteLength = Math.max(4, parts * allRows * (quads + 1) * 16);
  const partial = {
    hook: 'partial',
    from: { kind: 'scratch', index: 0, byteLength },
    width: 4,
  } as const;
  const isPart = parts > 1;
  const widths = [size, size, valueSize];
  const names = ['query', 'key', 'value'];
  const ofParts = { all_rows: u32(allRows), value_size: u32(valueSize) };
  const kernel: KernelSpec = {
    name: 'attention-tile',
    source:
      widths.map((width, i) => fourOf(names[i] ?? '', width)).join('') +
      unrolledSource(quads, tile) +
      bias +
      tileSource +
      (isPart
        ? 'fn store_quad(start: u32, count: u32, values: Element4) {}\n'
        : `fn store_partial4(i: u32, value: vec4<f32>) {}\n${storeQuad}`),
    constants: {
      ...problem.constants,
      QUADS: Math.ceil(Math.max(size, valueSize) / 4),
      IS_PART: isPart,
    },
    params: {
      ...problem.params,
      ...ofParts,
      rows: u32(rows),
      group: u32(rows / Math.max(1, Number(problem.params['queries']?.value))),
      size: u32(size),
      scale: f32(problem.scale),
      part: u32(Math.ceil(keys / parts / BLOCK) * BLOCK),
    },
    workgroupSize: [...lanes, 1],
    workgroups: [Math.ceil(rows / (lanes[1] * 4)), batch, parts],
    reads: [
      ...names.map(
        (hook, index) =>
          ({
            hook,
            from: { kind: 'input', index },
            width: (widths[index] ?? 1) % 4 === 0 ? 4 : 1,
          }) as const,
      ),
      { hook: 'bias', from: { kind: 'input', index: 3 }, width: 1 },
    ],
    writes: [isPart ? { hook: 'partial', to: partial.from, width: 4 } : output],
  };
  const kernels = splitGrid(kernel, call.caps);
  if (!isPart) return kernels;
  const grid = foldGroups(Math.ceil((allRows * quads) / 64), call.caps);
  return [
    ...kernels,
    {
      name: 'attention-merge',
      source: mergeSource + storeQuad,
      constants: {},
      params: { ...ofParts, parts: u32(parts), row_length: u32(grid.rowLength * 64) },
      workgroupSize: [64, 1, 1],
      workgroups: grid.workgroups,
      reads: [partial],
      writes: [output],
    },
  ];
}

/** Four elements of a row that begins at `start`, zeros behind its end. */
function fourOf(hook: string, width: number): string {
  const name = hook === 'value' ? 'value_size' : 'size';
  const element = (i: number) =>
    `select(0.0, load_${hook}(start + d * 4u + ${i}u), d * 4u + ${i}u < params.${name})`;
  return `fn ${hook}_four(start: u32, d: u32) -> vec4<f32> {
  return ${width % 4 === 0 ? `load_${hook}4(start / 4u + d)` : `vec4<f32>(${unroll(4, element, ', ')})`};
}
`;
}

/** WGSL for the sums that a lane has of four rows, and the scores for its keys of a block. */
function unrolledSource(quads: number, { lanes: [x] }: AttentionTile): string {
  const vectors = Math.ceil(quads / x);
  const count = BLOCK / x;
  const each = (line: (j: number) => string) => unroll(count, line);
  const sums = (line: (row: number, v: number) => string) =>
    unroll(4 * vectors, (i) => line(Math.floor(i / vectors), i % vectors));
  return `alias Sums = array<vec4<f32>, ${4 * vectors}>;
alias Scores = array<vec4<f32>, ${count}>;
fn add_scores(scores: ptr<function, Scores>, local: vec3<u32>, d: u32) {
  let at = d * 4u * WORKGROUP_SIZE_Y + local.y;
${unroll(4, (j) => `  let q${j} = query_tile[at + ${j}u * WORKGROUP_SIZE_Y];`)}
${each(
  (j) => `  let k${j} = tile[(local.x + ${j * x}u) * STRIDE + d];
  (*scores)[${j}] += ${unroll(4, (i) => `q${i} * k${j}[${i}]`, ' + ')};`,
)}
}
fn finish_scores(scores: ptr<function, Scores>, key: u32, ends: vec4<u32>, bias: vec4<u32>) -> vec4<f32> {
  var largest = vec4<f32>(LOWEST);
${each(
  (j) => `  (*scores)[${j}] = finished((*scores)[${j}], key + ${j * x}u, ends, bias);
  largest = max(largest, (*scores)[${j}]);`,
)}
  return largest;
}
fn store_weights(scores: ptr<function, Scores>, local: vec3<u32>, key: u32, ends: vec4<u32>, largest: vec4<f32>) -> vec4<f32> {
${each(
  (
    j,
  ) => `  let e${j} = select(vec4<f32>(), exp((*scores)[${j}] - largest), vec4<u32>(key + ${j * x}u) < ends);
  weights[(local.x + ${j * x}u) * WORKGROUP_SIZE_Y + local.y] = e${j};`,
)}
  return ${unroll(count, (j) => `e${j}`, ' + ')};
}
fn scale_sums(sums: ptr<function, Sums>, factor: vec4<f32>) {
${sums((row, v) => `  (*sums)[${row * vectors + v}] *= factor[${row}];`)}
}
fn add_values(sums: ptr<function, Sums>, weights: vec4<f32>, at: u32) {
${unroll(vectors, (v) => `  let v${v} = tile[at + ${v * x}u];`)}
${sums((row, v) => `  (*sums)[${row * vectors + v}] += weights[${row}] * v${v};`)}
}
fn store_sums(sums: ptr<function, Sums>, x: u32, result: Result) {
  // A copy, since what is indexed by variables does not stay in registers.
  var copy = *sums;
  for (var i = 0u; i < ${4 * vectors}u; i++) {
    store_four(i / ${vectors}u, x + i % ${vectors}u * ${x}u, copy[i], result);
  }
}
`;
}
