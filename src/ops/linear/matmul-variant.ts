import type { PlannerCaps } from '../../core/contracts/launch-plan.ts';
import { elementCount } from '../../core/tensor/shape.ts';
import type { MatmulProblem } from './matmul-problem.ts';
import type { Decoding, LoadForm, MatmulTileOptions } from './register-tile.ts';

/** Which kernel a product runs, and in which shape; the same for the same problem and adapter. */
export type MatmulVariant = RegisterVariant | VectorVariant | TiledVariant;

/** `matmul-tile`: sums in registers, nothing shared but by quads. */
export interface RegisterVariant extends MatmulTileOptions {
  readonly kernel: 'tile';
  /** Invocations of a workgroup, along n and m. */
  readonly lanes: readonly [number, number];
  /** Into how many parts of `part` steps k is cut; those are added up by a second kernel. */
  readonly parts: number;
  readonly part: number;
}

/** `matmul-vector`: a few rows, k spread over lanes. */
export interface VectorVariant extends MatmulTileOptions {
  readonly kernel: 'vector';
  readonly lanes: number;
}

/** `matmul-tiled`: tiles in workgroup memory. */
export interface TiledVariant {
  readonly kernel: 'tiled';
  /** Rows and columns of the tile. */
  readonly size: number;
  /** Steps of k for which the tile holds elements. */
  readonly depth: number;
  /** Vectors of four rows, and of four columns, of a lane. */
  readonly vectors: 1 | 2;
  readonly buffers: 1 | 2;
  readonly a: LoadForm;
  readonly b: LoadForm;
  /** The number of parts that k is cut into; see {@link RegisterVariant}. */
  readonly parts: number;
  readonly part: number;
}

/** Lanes 0 to 3 of a quad are invocations 4i to 4i+3, as on SwiftShader. */
export function hasLinearQuads(caps: PlannerCaps): boolean {
  return caps.subgroups && caps.subgroupMinSize === 4 && caps.adapterClass === 'software';
}

/** The kernel of up to four rows by a matrix that is decoded. */
export function decodingVariant(
  problem: MatmulProblem,
  decoding: Decoding,
  caps: PlannerCaps,
): RegisterVariant | VectorVariant {
  const isSoftware = caps.adapterClass === 'software';
  const rows = problem.m <= 1 ? 1 : 4;
  return {
    ...(isSoftware ? registerVariant(problem, caps) : vectorVariant(problem, caps, decoding.step)),
    rows,
    vectors: isSoftware && rows === 1 && problem.n >= 512 ? 2 : 1,
    quads: false,
    decoding,
  };
}

/** Chooses the kernel of a product by its sizes, its strides and the adapter. */
export function chooseMatmulVariant(problem: MatmulProblem, caps: PlannerCaps): MatmulVariant {
  const first = firstVariant(problem, caps);
  return caps.choices?.pick('matmul', { first, problem, caps }) ?? first;
}

function firstVariant(problem: MatmulProblem, caps: PlannerCaps): MatmulVariant {
  if (caps.adapterClass === 'software') {
    return streamedVariant(problem, registerVariant(problem, caps));
  }
  if (problem.m > 8) return tiledVariant(problem, caps);
  // Sums this short are not worth a barrier.
  return problem.k <= 64 ? registerVariant(problem, caps) : vectorVariant(problem, caps);
}

/** With fewer products than these a larger tile takes longer to compile than it ever saves. */
const SMALL_COUNT = 1 << 17;
const TINY_COUNT = 1 << 15;

/** From here on one of twice the columns is worth two thirds more of compiling. */
const LARGE_COUNT = 1 << 26;

/** Some 64 sums, where m allows it. */
export function registerVariant(
  problem: MatmulProblem,
  caps: PlannerCaps,
  tile?: Pick<RegisterVariant, 'rows' | 'vectors'>,
): RegisterVariant {
  const { m, n, k, batch } = problem;
  const isSoftware = caps.adapterClass === 'software';
  const count = m * n * k * elementCount(batch);
  const isTiny = isSoftware && count < TINY_COUNT;
  const rows = tile?.rows ?? (m <= 1 ? 1 : m <= 4 || isTiny ? 4 : m <= 8 ? 8 : 16);
  const isNarrow = count < SMALL_COUNT || n <= 16 || !isSoftware;
  const quads = rows > 1 && hasLinearQuads(caps);
  const a = loadForm(problem, 'a');
  const most = rows === 16 && quads && count >= LARGE_COUNT ? 2 : Math.min(4, 16 / rows);
  const vectors = tile?.vectors ?? (isNarrow ? 1 : most);
  return {
    kernel: 'tile',
    rows,
    vectors,
    a: a === 'across' && !(quads && rows === 16) ? 'single' : a,
    b: loadForm(problem, 'b'),
    quads,
    slices: 1,
    tail: k % 4 !== 0,
    lanes: m <= rows ? [16, 1] : [4, 4],
    parts: 1,
    part: k,
  };
}

/**
 * A row, and a matrix that no cache holds: parts of k so short that the processor fetches the rows
 * of B ahead of the lanes, in workgroups wide enough to use up the pages of those rows.
 */
function streamedVariant(problem: MatmulProblem, variant: RegisterVariant): RegisterVariant {
  const { m, n, k, batch } = problem;
  const rows = m * elementCount(batch);
  if (rows > 1 || variant.b !== 'across' || n * k < FIRST_UNCACHED) return variant;
  // Lanes beyond n cost time, and so does each workgroup.
  const cost = (lanes: number) => Math.ceil(n / (lanes * variant.vectors * 4)) * (lanes + 16);
  const lanes = [256, 128, 64, 32, 16].reduce((best, count) =>
    cost(count) < cost(best) ? count : best,
  );
  return { ...variant, lanes: [lanes, 1], parts: Math.ceil(k / STREAMS), part: STREAMS };
}

/** Elements of a matrix from which on walks of short parts are faster. */
const FIRST_UNCACHED = 1 << 23;

/** Rows of a matrix that are read side by side: as many as the processor fetches ahead. */
const STREAMS = 32;

function vectorVariant(
  problem: MatmulProblem,
  { adapterClass }: PlannerCaps,
  step = 4,
): VectorVariant {
  const { m, k, b: strides } = problem;
  const a = loadForm(problem, 'a');
  const byDepth = strides.row === 1;
  // Along n, eight lanes read the 128 bytes of a cache line.
  const lanes = adapterClass === 'discrete' && !byDepth ? 256 : 64;
  const most = byDepth ? lanes : lanes / 8;
  let slices = 2;
  while (slices < most && slices * step < k) slices *= 2;
  return {
    kernel: 'vector',
    rows: m <= 1 ? 1 : m <= 4 ? 4 : 8,
    vectors: 1,
    a: a === 'across' ? 'single' : a,
    b: loadForm(problem, 'b'),
    quads: false,
    tail: k % 4 !== 0,
    lanes,
    slices,
  };
}

/** A discrete GPU is busy from here on; an integrated one much earlier. */
const ENOUGH_LANES = { discrete: 1 << 16, integrated: 1 << 12, software: 1 };

type TileShape = Pick<TiledVariant, 'size' | 'depth' | 'vectors'>;

// A lane fetches one block of four by four for each step: lanes * 16 = depth * 2 * size.
export const LARGE: TileShape = { size: 128, depth: 16, vectors: 2 };
export const MEDIUM: TileShape = { size: 64, depth: 8, vectors: 2 };
export const SMALL: TileShape = { size: 32, depth: 16, vectors: 1 };

/** Parts of k are not cut shorter than this. */
const SHORTEST_PART = 256;

export function tiledVariant(
  problem: MatmulProblem,
  caps: PlannerCaps,
  given?: TileShape,
): TiledVariant {
  const forms = { a: loadForm(problem, 'a'), b: loadForm(problem, 'b') };
  const { m, n, k, batch } = problem;
  const tiles = (size: number) => Math.ceil(m / size) * Math.ceil(n / size) * elementCount(batch);
  const shape = given ?? tileShape(problem, caps, tiles);
  const lanes = tiles(shape.size) * (shape.size / shape.vectors / 4) ** 2;
  const wanted = Math.ceil(ENOUGH_LANES[caps.adapterClass] / Math.max(1, lanes));
  const bytes = shape.depth * shape.size * 2 * 4;
  const parts = n % 4 === 0 ? Math.max(1, Math.min(wanted, Math.floor(k / SHORTEST_PART), 16)) : 1;
  return {
    kernel: 'tiled',
    ...shape,
    ...forms,
    buffers: bytes * 2 <= caps.maxComputeWorkgroupStorageSize ? 2 : 1,
    parts,
    part: Math.ceil(k / parts / shape.depth) * shape.depth,
  };
}

/** `tiles` gives their number for a size. */
function tileShape(
  { m, n }: MatmulProblem,
  caps: PlannerCaps,
  tiles: (size: number) => number,
): TileShape {
  const isDiscrete = caps.adapterClass === 'discrete';
  const hasLargeGroups = caps.maxComputeInvocationsPerWorkgroup >= 256;
  const least = Math.min(m, n);
  if (isDiscrete && hasLargeGroups && least > 64 && tiles(LARGE.size) >= 128) return LARGE;
  return least <= SMALL.size || (!isDiscrete && tiles(MEDIUM.size) < 64) ? SMALL : MEDIUM;
}

/** How four elements of A or B can be had at once: where they are one aligned group. */
function loadForm({ m, n, k, a, b }: MatmulProblem, matrix: 'a' | 'b'): LoadForm {
  const { batch, row, column } = matrix === 'a' ? a : b;
  const [depth, across] = matrix === 'a' ? [column, row] : [row, column];
  const size = matrix === 'a' ? m : n;
  if (depth === 1 && isWhole([k, across, ...batch])) return 'depth';
  return across === 1 && isWhole([size, depth, ...batch]) ? 'across' : 'single';
}

function isWhole(counts: readonly number[]): boolean {
  return counts.every((count) => count % 4 === 0);
}
