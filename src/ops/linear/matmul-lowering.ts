import matmulStore from '../../../shaders/lib/matmul-store.wgsl?raw';
import storeQuadScalar from '../../../shaders/lib/store-quad-scalar.wgsl?raw';
import storeQuadVector from '../../../shaders/lib/store-quad-vector.wgsl?raw';
import sumSource from '../../../shaders/matmul-sum.wgsl?raw';
import tile from '../../../shaders/matmul-tile.wgsl?raw';
import tiled from '../../../shaders/matmul-tiled.wgsl?raw';
import vector from '../../../shaders/matmul-vector.wgsl?raw';
import type { PlannerCaps } from '../../core/contracts/launch-plan.ts';
import { elementCount } from '../../core/tensor/shape.ts';
import { readInput, storeOutput } from '../lowering/element-kernel.ts';
import {
  f32,
  type KernelOperand,
  type KernelSpec,
  type LoweringCall,
  u32,
} from '../lowering/lowering.ts';
import {
  gemmProblem,
  type MatmulProblem,
  type MatrixStrides,
  matmulProblem,
} from './matmul-problem.ts';
import {
  chooseMatmulVariant,
  decodingVariant,
  type MatmulVariant,
  type RegisterVariant,
  type TiledVariant,
  type VectorVariant,
} from './matmul-variant.ts';
import { longSum } from '../reduction/long-sum.ts';
import { type Decoding, matmulTileSource, unroll } from './register-tile.ts';
import { splitGrid } from './split-grid.ts';
import { workgroupTileSource } from './workgroup-tile.ts';

/** Kernels of `matmul`. */
export function lowerMatmul(call: LoweringCall): readonly KernelSpec[] {
  return matmulKernels(matmulProblem(call), call.caps);
}

/** Kernels of `gemm`. */
export function lowerGemm(call: LoweringCall): readonly KernelSpec[] {
  return matmulKernels(gemmProblem(call), call.caps);
}

/** The operands in which the matrices A and B and the bias lie. */
interface MatmulOperands {
  readonly a: KernelOperand;
  readonly b: KernelOperand;
  readonly c: KernelOperand;
}

const IN_ORDER: MatmulOperands = {
  a: { kind: 'input', index: 0 },
  b: { kind: 'input', index: 1 },
  c: { kind: 'input', index: 2 },
};

/** The kernels for a product: one, but for sums of parts and what no grid holds. */
export function matmulKernels(
  problem: MatmulProblem,
  caps: PlannerCaps,
  operands: MatmulOperands = IN_ORDER,
): readonly KernelSpec[] {
  // A column is a row of the transposed product, and lies in memory as that does.
  if (problem.n === 1 && problem.m > 1) {
    const { a, b, c } = operands;
    return matmulKernels(transposed(problem), caps, { a: b, b: a, c });
  }
  return problemKernels(problem, caps).map((kernel) => ({
    ...kernel,
    reads: kernel.reads.map((read) =>
      read.from.kind === 'input' ? { ...read, from: operandOf(read.hook, operands) } : read,
    ),
  }));
}

/**
 * The kernels for a product whose operands are inputs 0 and 1, never exchanged, in one piece. Tiles in registers take the decoding.
 */
export function wholeMatmulKernels(
  problem: MatmulProblem,
  caps: PlannerCaps,
  decoding?: Decoding,
): readonly KernelSpec[] {
  const variant = chooseMatmulVariant(problem, caps);
  const whole = { parts: 1, part: problem.k };
  return variantKernels(
    problem,
    variant.kernel === 'vector'
      ? variant
      : variant.kernel === 'tile'
        ? { ...variant, ...whole, ...(decoding && { decoding }) }
        : { ...variant, ...whole },
    caps,
  );
}

/** The kernel for up to four rows, of a k that is a multiple of the step. */
export function decodingMatmulKernels(
  problem: MatmulProblem,
  decoding: Decoding,
  caps: PlannerCaps,
): readonly KernelSpec[] {
  return variantKernels(problem, decodingVariant(problem, decoding, caps), caps);
}

/** The kernels for a product whose operands are inputs 0 and 1, never exchanged. */
export function problemKernels(problem: MatmulProblem, caps: PlannerCaps): readonly KernelSpec[] {
  return variantKernels(problem, chooseMatmulVariant(problem, caps), caps);
}

function variantKernels(
  problem: MatmulProblem,
  variant: MatmulVariant,
  caps: PlannerCaps,
): readonly KernelSpec[] {
  const kernels =
    variant.kernel === 'vector'
      ? [vectorKernel(problem, variant)]
      : partKernels(
          problem,
          variant,
          variant.kernel === 'tile' ? tileKernel(problem, variant) : tiledKernel(problem, variant),
        );
  return kernels.flatMap((kernel) => splitGrid(kernel, caps));
}

function transposed({ m, n, a, b, c, ...rest }: MatmulProblem): MatmulProblem {
  const flip = ({ batch, row, column }: MatrixStrides) => ({ batch, row: column, column: row });
  return {
    ...rest,
    m: n,
    n: m,
    a: flip(b),
    b: flip(a),
    c: c && { ...c, row: c.column, column: c.row },
  };
}

/** WGSL for where the matrices of a batch begin in A and B. */
function batchStarts({ batch: { length: rank }, gathers = false }: MatmulProblem): string {
  if (gathers) {
    return `fn batch_starts(batch: u32) -> vec2<u32> {
  return vec2<u32>(batch * params.a_batch${rank - 1}, matrix_of(batch) * params.b_batch${rank - 1});
}
`;
  }
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

function operandOf(hook: string, { a, b, c }: MatmulOperands): KernelOperand {
  return hook === 'a' ? a : hook === 'b' ? b : c;
}

function tileKernel(problem: MatmulProblem, variant: RegisterVariant): KernelSpec {
  const { m, n } = problem;
  const { rows, vectors, quads, lanes, decoding: { step } = { step: 4 }, part } = variant;
  const long = longTile('Tile', rows * vectors, { steps: part, step });
  return {
    name: 'matmul-tile',
    enables: quads ? ['subgroups'] : [],
    ...problemKernel(problem, variant, matmulTileSource(variant) + long.source + tile),
    constants: {
      TILE_ROWS: rows,
      TILE_VECTORS: vectors,
      LANE_ROWS: quads ? rows / 4 : 0,
      STEP: step,
      ...long.constants,
    },
    workgroupSize: [...lanes, 1],
    workgroups: [Math.ceil(n / (lanes[0] * vectors * 4)), Math.ceil(m / (lanes[1] * rows)), 1],
  };
}

function vectorKernel(problem: MatmulProblem, variant: VectorVariant): KernelSpec {
  const { m, n, b, batch } = problem;
  const { rows, vectors, lanes, slices, decoding: { step } = { step: 4 } } = variant;
  const long = longTile('Tile', rows * vectors, { steps: problem.k / slices, step });
  return {
    name: 'matmul-vector',
    ...problemKernel(problem, variant, matmulTileSource(variant) + long.source + vector),
    constants: {
      ...epilogueConstants(problem),
      TILE_ROWS: rows,
      SLICES: slices,
      STEP: step,
      ...long.constants,
      BY_DEPTH: b.row === 1,
    },
    workgroupSize: [lanes, 1, 1],
    workgroups: [Math.ceil(n / ((lanes / slices) * 4)), Math.ceil(m / rows), elementCount(batch)],
  };
}

function tiledKernel(problem: MatmulProblem, variant: TiledVariant): KernelSpec {
  const { m, n, a, b } = problem;
  const { size, depth, vectors, buffers, part } = variant;
  const long = longTile('Sums', vectors * 4 * vectors, { steps: part, step: depth });
  const lanes = size / vectors / 4;
  return {
    name: 'matmul-tiled',
    ...problemKernel(problem, variant, workgroupTileSource(variant) + long.source + tiled),
    constants: {
      PANEL_ROWS: size / 4,
      PANEL_COLUMNS: size / 4,
      DEPTH: depth,
      BUFFERS: buffers,
      ...long.constants,
      LEFT_BY_DEPTH: a.column === 1,
      RIGHT_BY_DEPTH: b.row === 1,
    },
    workgroupSize: [lanes, lanes, 1],
    workgroups: [Math.ceil(n / size), Math.ceil(m / size), 1],
  };
}

/** Steps of k that are added up by themselves in a product of more than {@link LONG_STEPS}. */
const BLOCK_STEPS = 128;
const LONG_STEPS = 8192;
/** Parts of k that are added up in one piece. */
const LONG_PARTS = 256;

/** What adds up a tile of so many vectors over `steps` of k, of which a round has `step`. */
function longTile(
  type: 'Tile' | 'Sums',
  vectors: number,
  { steps, step }: { readonly steps: number; readonly step: number },
): ReturnType<typeof longSum> {
  const isLong = steps > LONG_STEPS;
  const block = Math.max(1, BLOCK_STEPS / step);
  const { source, constants } = longSum({ isLong, noPart: 'Part()', block });
  const sum = unroll(vectors, (i) => `a[${i}] + b[${i}]`, ', ');
  const joined = isLong ? `fn joined(a: Part, b: Part) -> Part { return Part(${sum}); }\n` : '';
  return { source: `alias Part = ${type};\n${joined}${source}`, constants };
}

/** A kernel for each batch and each part of k, and what adds up the parts. */
function partKernels(
  problem: MatmulProblem,
  { parts, part }: Pick<TiledVariant, 'parts' | 'part'>,
  kernel: KernelSpec,
): readonly KernelSpec[] {
  const { m, n, batch } = problem;
  const batches = elementCount(batch);
  const [columns, rows] = kernel.workgroups;
  const epilogue = epilogueConstants(problem);
  const product: KernelSpec = {
    ...kernel,
    constants: {
      ...kernel.constants,
      ...(parts > 1 ? { HAS_C: false, HAS_ALPHA: false } : epilogue),
    },
    params: { ...kernel.params, batches: u32(batches), part: u32(part) },
    workgroups: [columns, rows, batches * parts],
  };
  if (parts === 1) return [product];
  const bytes = m * n * batches * 4;
  const long = longSum({ isLong: parts > LONG_PARTS, noPart: 'Part()' });
  const sums = { kind: 'scratch', index: PARTS_SCRATCH, byteLength: bytes * parts } as const;
  const lanes = m === 1 ? ([64, 1] as const) : ([16, 4] as const);
  return [
    { ...product, writes: [{ hook: '', to: sums, width: 4 }] },
    {
      name: 'matmul-sum',
      source: sumSource + long.source + matmulStore + storeQuadVector,
      constants: { ...epilogue, ...long.constants },
      params: { ...kernel.params, parts: u32(parts), part_size: u32(bytes / 16) },
      workgroupSize: [...lanes, 1],
      workgroups: [Math.ceil(n / lanes[0] / 4), Math.ceil(m / lanes[1]), batches],
      reads: [{ hook: 'partial', from: sums, width: 4 }, ...kernel.reads.slice(2)],
      writes: kernel.writes,
    },
  ];
}

/** Convolutions have scratch of their own below. */
const PARTS_SCRATCH = 3;

/** The common part of all kernels of products. */
function problemKernel(
  problem: MatmulProblem,
  variant: Pick<RegisterVariant, 'a' | 'b' | 'decoding'>,
  source: string,
): Pick<KernelSpec, 'source' | 'params' | 'reads' | 'writes'> {
  const { a, b } = variant;
  const isWhole = problem.n % 4 === 0;
  const store = matmulStore + (isWhole ? storeQuadVector : storeQuadScalar);
  return {
    source: batchStarts(problem) + source + store,
    params: problemParams(problem, variant),
    reads: [
      readInput('a', 0, a === 'single' ? 1 : 4),
      readInput('b', 1, b === 'single' ? 1 : 4),
      readInput('c', 2),
    ],
    writes: storeOutput(isWhole ? 4 : 1),
  };
}

function epilogueConstants({ c, alpha }: MatmulProblem): KernelSpec['constants'] {
  return { HAS_C: c !== undefined, HAS_ALPHA: alpha !== 1 };
}

function problemParams(
  problem: MatmulProblem,
  forms: Pick<RegisterVariant, 'a' | 'b' | 'decoding'>,
): KernelSpec['params'] {
  const { a, b, c } = problem;
  return {
    m: u32(problem.m),
    n: u32(problem.n),
    k: u32(problem.k),
    ...batchParams(problem),
    a_row: u32(a.row),
    a_k: u32(forms.a === 'across' ? a.column / 4 : a.column),
    b_k: u32(forms.b === 'across' ? b.row / 4 : b.row),
    b_column: u32(forms.decoding?.column ?? b.column),
    c_row: u32(c?.row ?? 0),
    c_column: u32(c?.column ?? 0),
    c_batch: u32(c?.batch ?? 0),
    alpha: f32(problem.alpha),
    beta: f32(problem.beta),
  };
}
