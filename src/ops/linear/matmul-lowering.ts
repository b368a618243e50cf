import workgroupTile from '../../../shaders/lib/workgroup-tile.wgsl?raw';
import direct from '../../../shaders/matmul-direct.wgsl?raw';
import tiled from '../../../shaders/matmul-tiled.wgsl?raw';
import tile from '../../../shaders/matmul-tile.wgsl?raw';
import storeQuadScalar from '../../../shaders/lib/store-quad-scalar.wgsl?raw';
import storeQuadVector from '../../../shaders/lib/store-quad-vector.wgsl?raw';
import type { PlannerCaps } from '../../core/launch-plan.ts';
import { elementCount } from '../../core/shape.ts';
import { f32, type KernelSpec, type LoweringCall, u32 } from '../lowering.ts';
import { gemmProblem, type MatmulProblem, matmulProblem } from './matmul-problem.ts';
import { chooseRegisterTile } from './matmul-variant.ts';
import { matmulTileSource } from './register-tile.ts';
import { splitGrid } from './split-grid.ts';

export { hasLinearQuads } from './matmul-variant.ts';

/** Kernels of `matmul`. */
export function lowerMatmul(call: LoweringCall): readonly KernelSpec[] {
  return matmulKernels(matmulProblem(call), call.caps);
}

/** Kernels of `gemm`. */
export function lowerGemm(call: LoweringCall): readonly KernelSpec[] {
  return matmulKernels(gemmProblem(call), call.caps);
}

/** Which inputs of the operator are the matrices A and B and the bias. */
export interface MatmulOperands {
  readonly a: number;
  readonly b: number;
  readonly c: number;
}

const IN_ORDER: MatmulOperands = { a: 0, b: 1, c: 2 };

/** The kernels for a product of two inputs: one, but for what no grid holds. */
export function matmulKernels(
  problem: MatmulProblem,
  caps: PlannerCaps,
  operands: MatmulOperands = IN_ORDER,
): readonly KernelSpec[] {
  const kernel = chooseKernel(problem, caps);
  const reads = kernel.reads.map((read) => ({ ...read, from: inputOf(read.hook, operands) }));
  const source = batchStarts(problem.batch.length) + kernel.source;
  return splitGrid({ ...kernel, source, reads }, caps);
}

/** WGSL for where the matrices of a batch begin in A and B. */
function batchStarts(rank: number): string {
  const steps = Array.from({ length: rank - 1 }, (_, i) => {
    const axis = rank - 1 - i;
    return `  at += rest % params.batch_size${axis} * vec2<u32>(params.a_batch${axis}, params.b_batch${axis});
  rest /= params.batch_size${axis};
`;
  });
  return `fn batch_starts(batch: u32) -> vec2<u32> {
  var rest = batch;
  var at = vec2<u32>();
${steps.join('')}  return at + rest * vec2<u32>(params.a_batch0, params.b_batch0);
}
`;
}

function batchParams({ batch, a, b }: MatmulProblem): KernelSpec['params'] {
  return Object.fromEntries(
    batch.flatMap((size, axis) => [
      [`batch_size${axis}`, u32(size)],
      [`a_batch${axis}`, u32(a.batch[axis] ?? 0)],
      [`b_batch${axis}`, u32(b.batch[axis] ?? 0)],
    ]),
  );
}

function chooseKernel(problem: MatmulProblem, caps: PlannerCaps): KernelSpec {
  if (caps.adapterClass === 'software') return tileKernel(problem, caps);
  // Fewer rows would leave most of a tile idle.
  return problem.m < 16 ? directKernel(problem) : tiledKernel(problem);
}

function inputOf(hook: string, operands: MatmulOperands): { kind: 'input'; index: number } {
  const index = hook === 'a' ? operands.a : hook === 'b' ? operands.b : operands.c;
  return { kind: 'input', index };
}

function tileKernel(problem: MatmulProblem, caps: PlannerCaps): KernelSpec {
  const { m, n, batch } = problem;
  const options = chooseRegisterTile(problem, caps);
  const { rows, vectors, quads } = options;
  const storesVectors = n % 4 === 0;
  const workgroupSize = m <= 16 ? ([16, 1, 1] as const) : ([4, 4, 1] as const);
  return {
    name: 'matmul-tile',
    source: matmulTileSource(options) + tile + (storesVectors ? storeQuadVector : storeQuadScalar),
    enables: quads ? ['subgroups'] : [],
    constants: {
      TILE_ROWS: rows,
      TILE_VECTORS: vectors,
      LANE_ROWS: quads ? rows / 4 : 0,
      HAS_C: problem.c !== undefined,
      HAS_ALPHA: problem.alpha !== 1,
    },
    params: problemParams(problem),
    workgroupSize,
    workgroups: [
      Math.ceil(n / (workgroupSize[0] * vectors * 4)),
      Math.ceil(m / (workgroupSize[1] * rows)),
      elementCount(batch),
    ],
    reads: problemReads(options.a === 'single' ? 1 : 4, options.b === 'single' ? 1 : 4),
    writes: [{ hook: '', to: { kind: 'output' }, width: storesVectors ? 4 : 1 }],
  };
}

function tiledKernel(problem: MatmulProblem): KernelSpec {
  const { m, n, b, batch } = problem;
  const isVector = b.column === 1 && [n, b.row, ...b.batch].every((x) => x % 4 === 0);
  const bWidths = isVector ? ([1, 4] as const) : ([1] as const);
  const bHooks = bWidths.map(
    (width) => ({ hook: 'b', from: { kind: 'input', index: 1 }, width }) as const,
  );
  return {
    name: 'matmul-tiled',
    source: `${isVector ? '' : NO_VECTOR_B}${tiled}${workgroupTile}`,
    constants: {
      HAS_C: problem.c !== undefined,
      HAS_ALPHA: problem.alpha !== 1,
      B_IS_VECTOR: isVector,
    },
    params: problemParams(problem),
    workgroupSize: [16, 16, 1],
    workgroups: [Math.ceil(n / 64), Math.ceil(m / 64), elementCount(batch)],
    reads: [...problemReads(1).filter(({ hook }) => hook !== 'b'), ...bHooks],
    writes: [{ hook: '', to: { kind: 'output' }, width: 1 }],
  };
}

/** The shader names the vector form of the hook even where a constant rules it out. */
const NO_VECTOR_B = 'fn load_b4(i: u32) -> Element4 { return Element4(); }\n';

function problemReads(aWidth: 1 | 4, bWidth: 1 | 4 = 1): KernelSpec['reads'] {
  return [
    { hook: 'a', from: { kind: 'input', index: 0 }, width: aWidth },
    { hook: 'b', from: { kind: 'input', index: 1 }, width: bWidth },
    { hook: 'c', from: { kind: 'input', index: 2 }, width: 1 },
  ];
}

function directKernel(problem: MatmulProblem): KernelSpec {
  const { m, n, batch } = problem;
  return {
    name: 'matmul-direct',
    source: direct,
    constants: { HAS_C: problem.c !== undefined },
    params: problemParams(problem),
    workgroupSize: [16, 4, 1],
    workgroups: [Math.ceil(n / 16), Math.ceil(m / 4), elementCount(batch)],
    reads: problemReads(1),
    writes: [{ hook: '', to: { kind: 'output' }, width: 1 }],
  };
}

function problemParams(problem: MatmulProblem): KernelSpec['params'] {
  const { a, b, c } = problem;
  return {
    m: u32(problem.m),
    n: u32(problem.n),
    k: u32(problem.k),
    ...batchParams(problem),
    a_row: u32(a.row),
    a_k: u32(a.column),
    b_k: u32(b.row),
    b_column: u32(b.column),
    c_row: u32(c?.row ?? 0),
    c_column: u32(c?.column ?? 0),
    alpha: f32(problem.alpha),
    beta: f32(problem.beta),
  };
}
