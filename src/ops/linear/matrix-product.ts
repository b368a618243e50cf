import type { FloatArray } from '../elements.ts';

/**
 * Copies a block of a matrix into `target` in panels of four lanes (rows of A, columns of B):
 * lane `i` at depth `p` goes to `target[((i >> 2) * depth + p) * 4 + (i & 3)]`. Lanes from `count`
 * up to the next multiple of four are filled with zeros.
 */
export type PackBlock = (target: Float64Array, block: BlockRange) => void;

export interface BlockRange {
  /** First lane and number of lanes. */
  readonly first: number;
  readonly count: number;
  /** First index along the summed dimension, and their number. */
  readonly depthStart: number;
  readonly depth: number;
}

interface MatrixProduct {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly packA: PackBlock;
  readonly packB: PackBlock;
  /** Receives each element of the product once, in double precision. */
  store(row: number, column: number, sum: number): void;
}

const ROWS = 64;
const COLUMNS = 128;
const DEPTH = 256;

/**
 * A matrix product summed in double precision: blocks that fit the caches, packed so that the inner
 * loop reads two streams, 4x4 sums in registers (Goto and van de Geijn, "Anatomy of
 * High-Performance Matrix Multiplication", 2008).
 */
export function multiplyMatrices(product: MatrixProduct): void {
  const { m, n, k } = product;
  const depthMax = Math.min(k, DEPTH);
  const a = new Float64Array(roundUp(Math.min(m, ROWS)) * depthMax);
  const b = new Float64Array(roundUp(Math.min(n, COLUMNS)) * depthMax);
  const sums = new Float64Array(roundUp(m) * roundUp(Math.min(n, COLUMNS)));
  for (let column = 0; column < n; column += COLUMNS) {
    const columns = Math.min(COLUMNS, n - column);
    const width = roundUp(columns);
    sums.fill(0);
    for (let depthStart = 0; depthStart < k; depthStart += DEPTH) {
      const depth = Math.min(DEPTH, k - depthStart);
      product.packB(b, { first: column, count: columns, depthStart, depth });
      for (let row = 0; row < m; row += ROWS) {
        const rows = Math.min(ROWS, m - row);
        product.packA(a, { first: row, count: rows, depthStart, depth });
        multiplyBlock(a, b, { sums, offset: row * width, rows: roundUp(rows), width, depth });
      }
    }
    for (let i = 0; i < m; i++) {
      for (let j = 0; j < columns; j++) product.store(i, column + j, sums[i * width + j] ?? 0);
    }
  }
}

function roundUp(count: number): number {
  return (count + 3) & ~3;
}

interface SumBlock {
  readonly sums: Float64Array;
  readonly offset: number;
  readonly rows: number;
  readonly width: number;
  readonly depth: number;
}

function multiplyBlock(a: Float64Array, b: Float64Array, block: SumBlock): void {
  const { sums, offset, rows, width, depth } = block;
  for (let j = 0; j < width; j += 4) {
    for (let i = 0; i < rows; i += 4) {
      const begin = { a: i * depth, b: j * depth, sums: offset + i * width + j };
      multiplyPanels(a, b, sums, begin.a, begin.b, begin.sums, width, depth);
    }
  }
}

// The inner loop: plain numbers instead of an options object, since it runs millions of times.
function multiplyPanels(
  a: Float64Array,
  b: Float64Array,
  sums: Float64Array,
  aStart: number,
  bStart: number,
  at: number,
  width: number,
  depth: number,
): void {
  let [s00, s01, s02, s03, s10, s11, s12, s13] = [0, 0, 0, 0, 0, 0, 0, 0];
  let [s20, s21, s22, s23, s30, s31, s32, s33] = [0, 0, 0, 0, 0, 0, 0, 0];
  let y = bStart;
  const end = aStart + depth * 4;
  for (let x = aStart; x < end; x += 4) {
    const b0 = b[y] ?? 0;
    const b1 = b[y + 1] ?? 0;
    const b2 = b[y + 2] ?? 0;
    const b3 = b[y + 3] ?? 0;
    y += 4;
    const a0 = a[x] ?? 0;
    s00 += a0 * b0;
    s01 += a0 * b1;
    s02 += a0 * b2;
    s03 += a0 * b3;
    const a1 = a[x + 1] ?? 0;
    s10 += a1 * b0;
    s11 += a1 * b1;
    s12 += a1 * b2;
    s13 += a1 * b3;
    const a2 = a[x + 2] ?? 0;
    s20 += a2 * b0;
    s21 += a2 * b1;
    s22 += a2 * b2;
    s23 += a2 * b3;
    const a3 = a[x + 3] ?? 0;
    s30 += a3 * b0;
    s31 += a3 * b1;
    s32 += a3 * b2;
    s33 += a3 * b3;
  }
  addRow(sums, at, s00, s01, s02, s03);
  addRow(sums, at + width, s10, s11, s12, s13);
  addRow(sums, at + 2 * width, s20, s21, s22, s23);
  addRow(sums, at + 3 * width, s30, s31, s32, s33);
}

function addRow(
  sums: Float64Array,
  at: number,
  s0: number,
  s1: number,
  s2: number,
  s3: number,
): void {
  sums[at] = (sums[at] ?? 0) + s0;
  sums[at + 1] = (sums[at + 1] ?? 0) + s1;
  sums[at + 2] = (sums[at + 2] ?? 0) + s2;
  sums[at + 3] = (sums[at + 3] ?? 0) + s3;
}

/** Where a matrix lies in an array: strides from lane to lane and along the summed dimension. */
interface StridedMatrix {
  readonly elements: FloatArray;
  readonly offset: number;
  readonly laneStride: number;
  readonly depthStride: number;
}

/** Packs a matrix that is given by strides. */
export function packStrided(matrix: StridedMatrix): PackBlock {
  const { elements, offset, laneStride, depthStride } = matrix;
  return (target, { first, count, depthStart, depth }) => {
    const padded = roundUp(count);
    for (let lane = 0; lane < padded; lane++) {
      let to = (lane >> 2) * depth * 4 + (lane & 3);
      let from = offset + (first + lane) * laneStride + depthStart * depthStride;
      for (let p = 0; p < depth; p++) {
        target[to] = lane < count ? (elements[from] ?? 0) : 0;
        to += 4;
        from += depthStride;
      }
    }
  };
}
