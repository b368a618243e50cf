import { readInput, invocationGrid, asParams, perInvocation } from '../lowering/element-kernel.ts';
import block from '../../../shaders/top-k-block.wgsl?raw';
import countPlaces from '../../../shaders/top-k-count.wgsl?raw';
import join from '../../../shaders/top-k-join.wgsl?raw';
import mergePart from '../../../shaders/lib/top-k-merge-part.wgsl?raw';
import merge from '../../../shaders/top-k-merge.wgsl?raw';
import sort from '../../../shaders/top-k-sort.wgsl?raw';
import { type DType, dtypeInfo, isBigInt } from '../../core/tensor/dtype.ts';
import { elementCount, normalizeAxis } from '../../core/tensor/shape.ts';
import { boolAttribute, intAttribute } from '../attributes.ts';
import { foldGroups } from '../linear/fold-groups.ts';
import type {
  KernelRead,
  KernelSpec,
  KernelWrite,
  LoweringCall,
  ScratchOperand,
} from '../lowering/lowering.ts';
import { operand } from '../operand-checks.ts';

/** As in `top-k-block.wgsl`. */
const BLOCK = 1024;
/** Rows up to here are compared with themselves, which takes one kernel. */
const MAX_COUNTED = 128;
/** Rows up to here are sorted by one invocation, in fewer than MAX_LOOP_ROUNDS; longer ones in parts. */
const MAX_WHOLE = 4096;
const PART_SIZE = 1024;

interface TopKProblem {
  readonly call: LoweringCall;
  readonly source: string;
  readonly rows: number;
  readonly size: number;
  readonly k: number;
  readonly inner: number;
}

/**
 * Short rows count what comes before each element. Longer ones are sorted in blocks, of which the
 * first k elements remain until one block is left; where that would leave too many, whole rows are
 * sorted by a bitonic network (K. Batcher, "Sorting networks and their applications"). On software
 * adapters, where barriers cost more than comparing, an invocation sorts a row, or a part of a long one.
 */
export function lowerTopK(call: LoweringCall): readonly KernelSpec[] {
  const x = operand(call.inputs, 0);
  const axis = normalizeAxis(intAttribute(call.attributes, 'axis'), x.shape.length, 'top_k');
  const [size, k] = [x.shape[axis] ?? 1, call.output.shape[axis] ?? 0];
  if (elementCount(call.output.shape) === 0) return [];
  const inner = elementCount(x.shape.slice(axis + 1));
  const source = comparison(x.dtype, boolAttribute(call.attributes, 'largest'));
  const problem = { call, source, rows: elementCount(x.shape) / size, size, k, inner };
  if (size <= MAX_COUNTED) return [countKernel(problem)];
  if (call.caps.adapterClass === 'software') return mergeKernels(problem);
  return k <= BLOCK / 2 ? selectKernels(problem) : sortKernels(problem);
}

function selectKernels(problem: TopKProblem): KernelSpec[] {
  const { rows, size, k } = problem;
  const kernels: KernelSpec[] = [];
  let candidates = size;
  for (let pass = 0; ; pass++) {
    const blocks = Math.ceil(candidates / BLOCK);
    kernels.push(
      blockKernel(problem, {
        isFirst: pass === 0,
        isLast: blocks === 1,
        candidates,
        blocks,
        keep: k,
        from: indices(pass % 2, rows * candidates),
        to: indices((pass + 1) % 2, rows * blocks * k),
      }),
    );
    if (blocks === 1) return kernels;
    candidates = blocks * k;
  }
}

function sortKernels(problem: TopKProblem): KernelSpec[] {
  const { rows, size } = problem;
  let padded = BLOCK;
  while (padded < size) padded *= 2;
  const all = indices(0, rows * padded);
  const pass = { blocks: padded / BLOCK, keep: BLOCK, from: all, to: all };
  const first = { ...pass, isFirst: true, candidates: size };
  const kernels = [blockKernel(problem, { ...first, isLast: padded === BLOCK })];
  for (let run = 2 * BLOCK; run <= padded; run *= 2) {
    kernels.push(mergeKernel(problem, { all, padded, stride: run / 2, isFlip: true }));
    for (let stride = run / 4; stride >= BLOCK; stride /= 2) {
      kernels.push(mergeKernel(problem, { all, padded, stride, isFlip: false }));
    }
    const rest = { ...pass, isFirst: false, candidates: padded };
    kernels.push(blockKernel(problem, { ...rest, isLast: run === padded }));
  }
  return kernels;
}

function mergeKernels(problem: TopKProblem): KernelSpec[] {
  const { rows, size, k } = problem;
  const all = indices(0, rows * 2 * size);
  const step = {
    reads: [X, { hook: 'candidates', from: all, width: 1 } as const],
    writes: [RESULT, { hook: 'candidates', to: all, width: 1 } as const],
  };
  const partSize = size <= MAX_WHOLE ? size : PART_SIZE;
  const parts = Math.ceil(size / partSize);
  const shared = { count: rows * parts, k, parts, part_size: partSize };
  const sorted = { ...step, name: 'top-k-sort', source: STORE_PLACE + mergePart + sort };
  const kernels = [stepKernel(problem, sorted, shared)];
  // Parts of 1024 elements are back in the first half after ten passes.
  for (let width = partSize, half = 0; width < size; width *= 2, half = 1 - half) {
    const joined = { ...step, name: 'top-k-join', source: STORE_PLACE + mergePart + join };
    const isLast = 2 * width >= size ? 1 : 0;
    const pass = { ...shared, width, from_half: half, is_last: isLast };
    kernels.push(stepKernel(problem, joined, pass));
  }
  return kernels;
}

/** Scratch for indices of candidates, by row. */
function indices(index: number, count: number): ScratchOperand {
  return { kind: 'scratch', index, byteLength: count * 4, type: 'u32' };
}

const X: KernelRead = readInput('x', 0);
const RESULT: KernelWrite = { hook: '', to: { kind: 'output' }, width: 1 };

function countKernel(problem: TopKProblem): KernelSpec {
  const step = {
    name: 'top-k-count',
    source: STORE_PLACE + countPlaces,
    reads: [X],
    writes: [RESULT],
  };
  return stepKernel(problem, step, { count: problem.rows * problem.size, k: problem.k });
}

/** A kernel of `count` independent invocations. */
function stepKernel(
  { call, source, size, inner }: TopKProblem,
  step: Pick<KernelSpec, 'name' | 'source' | 'reads' | 'writes'>,
  params: { readonly count: number; readonly [name: string]: number },
): KernelSpec {
  const grid = invocationGrid(params.count, call.caps);
  return {
    ...grid,
    ...step,
    source: source + perInvocation(step.source),
    constants: {},
    params: asParams({ ...params, row_length: grid.params.row_length, size, inner }),
  };
}

interface BlockPass {
  readonly isFirst: boolean;
  readonly isLast: boolean;
  readonly candidates: number;
  readonly blocks: number;
  readonly keep: number;
  readonly from: ScratchOperand;
  readonly to: ScratchOperand;
}

function blockKernel(problem: TopKProblem, pass: BlockPass): KernelSpec {
  const { call, source, rows, size, k, inner } = problem;
  const { isFirst, isLast, candidates, blocks, keep } = pass;
  const count = rows * blocks;
  const grid = foldGroups(count, call.caps);
  return {
    name: 'top-k-block',
    source: source + STORE_PLACE + block,
    constants: {},
    params: asParams({
      count,
      row_length: grid.rowLength,
      size,
      inner,
      k,
      candidates,
      blocks,
      keep,
      is_first: isFirst ? 1 : 0,
      is_last: isLast ? 1 : 0,
    }),
    workgroupSize: [256, 1, 1],
    workgroups: grid.workgroups,
    reads: [X, { hook: 'candidates', from: pass.from, width: 1 }],
    writes: [RESULT, { hook: 'candidates', to: pass.to, width: 1 }],
  };
}

interface MergeStep {
  readonly all: ScratchOperand;
  readonly padded: number;
  readonly stride: number;
  readonly isFlip: boolean;
}

function mergeKernel(problem: TopKProblem, step: MergeStep): KernelSpec {
  const { all, padded, stride, isFlip } = step;
  const kernel = {
    name: 'top-k-merge',
    source: merge,
    reads: [X, { hook: 'candidates', from: all, width: 1 } as const],
    writes: [{ hook: 'candidates', to: all, width: 1 } as const],
  };
  const count = (problem.rows * padded) / 2;
  return stepKernel(problem, kernel, { count, candidates: padded, stride, flip: isFlip ? 1 : 0 });
}

const STORE_PLACE = `fn store_place(row: u32, place: u32, index: u32) {
  let outer = row / params.inner;
  store((outer * params.k + place) * params.inner + row - outer * params.inner, vec2<u32>(index, 0u));
}
`;

/** The order of elements, as that of pairs of words, the high one first. */
function comparison(dtype: DType, isLargest: boolean): string {
  return `const NOWHERE = 0xffffffffu;

fn key_at(row: u32, index: u32) -> vec2<u32> {
  let outer = row / params.inner;
  let value = load_x((outer * params.size + index) * params.inner + row - outer * params.inner);
  ${orderedWords(dtype)}
  return ${isLargest ? '~key' : 'key'};
}

fn comes_before(a: vec2<u32>, a_index: u32, b: vec2<u32>, b_index: u32) -> bool {
  if (a_index == NOWHERE || b_index == NOWHERE || all(a == b)) {
    return a_index < b_index;
  }
  return a.x < b.x || (a.x == b.x && a.y < b.y);
}

`;
}

/** Declares `key`. Zeros of both signs are equal; NaN is the largest. */
function orderedWords(dtype: DType): string {
  const { category } = dtypeInfo(dtype);
  const sign = category === 'int' ? ' ^ 0x80000000u' : '';
  if (isBigInt(dtype)) return `let key = vec2<u32>(value.y${sign}, value.x);`;
  if (category !== 'float') return `let key = vec2<u32>(bitcast<u32>(value)${sign}, 0u);`;
  return `let given = bitcast<u32>(value);
  let magnitude = given & 0x7fffffffu;
  let bits = select(given, 0u, magnitude == 0u);
  let ordered = select(bits | 0x80000000u, ~bits, (bits >> 31u) != 0u);
  let key = vec2<u32>(select(ordered, 0xffffffffu, magnitude > 0x7f800000u), 0u);`;
}
