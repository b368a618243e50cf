import { FLOAT, lesser, plus, times } from '../../wasm/address.ts';
import type { Expression, Local } from '../../wasm/expression.ts';
import * as w from '../../wasm/expression.ts';
import { loop, set, type Statement, store, when } from '../../wasm/statement.ts';
import {
  writesInOrder,
  writesOfColumns,
  writesOfMatrices,
  type UnitWrites,
} from '../lowering/unit-writes.ts';
import type { UnitRange, WasmKernel, WasmPlaces } from '../lowering/wasm-lowering.ts';
import type { BiasStrides, MatmulProblem } from './matmul-problem.ts';

/** Adds the product of two vectors to a sum. */
export const addProduct = (sum: Local, a: Expression, b: Expression) =>
  set(sum, w.multiplyAdd(a, b, sum));

export interface Addresses {
  readonly a: Local;
  readonly b: Local;
  readonly c: Local | undefined;
  readonly y: Local;
}

/** Matrices of the batch from which on each is a unit; of fewer a unit is a part of one. */
const MANY_MATRICES = 4;

/** Units of a product whose matrices have so many parts, and what parts write. */
export function productUnits(
  { batch, m, n }: MatmulProblem,
  parts: number,
  ofParts: UnitWrites,
): Required<Pick<WasmKernel, 'units' | 'writes'>> {
  const matrices = countOf(batch);
  if (matrices >= MANY_MATRICES) return { units: matrices, writes: writesInOrder(m * n) };
  const writes = writesOfMatrices({ rows: m, columns: n, parts, ofParts });
  return { units: matrices * parts, writes };
}

/** Units of a product that has parts of so many columns. */
export const columnUnits = (problem: MatmulProblem, width: number) =>
  productUnits(
    problem,
    Math.ceil(problem.n / width),
    writesOfColumns({ rows: problem.m, columns: problem.n }, width),
  );

/** Returns true if the batch is one matrix, so that units are parts of it alone. */
export const isOneMatrix = ({ batch }: MatmulProblem): boolean => countOf(batch) === 1;

const countOf = (batch: readonly number[]): number =>
  batch.reduce((product, size) => product * size, 1);

/** Multiplications of a product. */
export const productWork = ({ batch, m, n, k }: MatmulProblem): number =>
  countOf(batch) * m * n * k;

/**
 * Loops over the matrices of a range of units, and in them what `body` does with a range of each one's
 * parts, from the addresses of its matrices.
 */
export function forUnits(
  problem: MatmulProblem,
  parts: number,
  {
    places,
    body,
  }: {
    readonly places: WasmPlaces;
    readonly body: (addresses: Addresses, range: UnitRange) => readonly Statement[];
  },
): Statement[] {
  const { batch, a, b, c, m, n } = problem;
  const {
    inputs: [placeA, placeB, placeC],
    output,
    units: { first, end },
  } = places;
  if (placeA === undefined || placeB === undefined) return [];
  const addresses = {
    a: w.local('i32'),
    b: w.local('i32'),
    c: placeC && w.local('i32'),
    y: w.local('i32'),
  };
  const outputStrides = batch.map((_, axis) => countOf(batch.slice(axis + 1)) * m * n);
  const matrix = w.local('i32');
  const at = (base: Expression, strides: readonly number[]) =>
    batch.reduce<Expression>((sum, size, axis) => {
      const stride = strides[axis] ?? 0;
      if (stride === 0 || size === 1) return sum;
      const outer = w.apply('i32.div_u', matrix, w.i32(countOf(batch.slice(axis + 1))));
      const index = axis === 0 ? outer : w.apply('i32.rem_u', outer, w.i32(size));
      return plus(sum, times(index, stride * FLOAT));
    }, base);
  const ofMatrix = (range: UnitRange): Statement[] => [
    set(addresses.a, at(placeA, a.batch)),
    set(addresses.b, at(placeB, b.batch)),
    set(addresses.y, at(output, outputStrides)),
    ...(addresses.c && placeC ? [set(addresses.c, at(placeC, [0, c?.batch ?? 0]))] : []),
    ...body(addresses, range),
  ];
  const matrices = countOf(batch);
  const range = { first: w.local('i32'), end: w.local('i32') };
  if (matrices >= MANY_MATRICES) {
    return loop({ index: matrix, begin: first, end }, [
      set(range.first, w.i32(0)),
      set(range.end, w.i32(parts)),
      ...ofMatrix(range),
    ]);
  }
  return loop({ index: matrix, end: w.i32(matrices) }, [
    set(range.first, clamped(w.apply('i32.sub', first, times(matrix, parts)), parts)),
    set(range.end, clamped(w.apply('i32.sub', end, times(matrix, parts)), parts)),
    ...when(w.apply('i32.lt_s', range.first, range.end), ofMatrix(range)),
  ]);
}

/** The value, limited to 0 to `most`. */
function clamped(value: Expression, most: number): Expression {
  const least = w.select(w.apply('i32.gt_s', value, w.i32(0)), value, w.i32(0));
  return lesser(least, most);
}

/** The sum scaled, and the bias added: four columns of a row, or the first `count`. */
export function storeRow(
  { alpha, beta, c: strides }: MatmulProblem,
  sum: Expression,
  place: RowPlace,
): Statement[] {
  const { y, c, offset, count } = place;
  const scaled = alpha === 1 ? sum : w.apply('f32x4.mul', sum, w.f32x4(alpha));
  const bias = c && strides && biasOf(c, strides, place);
  const biased =
    bias === undefined
      ? scaled
      : w.apply('f32x4.add', scaled, beta === 1 ? bias : w.apply('f32x4.mul', bias, w.f32x4(beta)));
  return storeColumns({ y, offset, count }, biased);
}

interface Columns {
  readonly y: Local;
  readonly offset: number;
  /** How many columns there are, at most four. */
  readonly count: number;
}

/** The first columns of a vector. */
export function storeColumns({ y, offset, count }: Columns, sum: Expression): Statement[] {
  if (count >= 4) return [store('v128', { address: y, offset }, sum)];
  const value = w.local('v128');
  return [
    set(value, sum),
    ...Array.from({ length: count }, (_, i) =>
      store('f32', { address: y, offset: offset + i * FLOAT }, w.lane('f32x4', value, i)),
    ),
  ];
}

/**
 * Adds to columns of y, and to what those have rounded off so far: W. Kahan, "Further remarks on reducing truncation
 * errors" (1965). `storeLast` gets the last sum, in place of y.
 */
export function addCompensated(
  sum: Expression,
  { rest, ...place }: Columns & { readonly rest: Local },
  storeLast?: (total: Expression) => readonly Statement[],
): Statement[] {
  const [value, before, total] = w.locals(3, 'v128');
  const lost = { ...place, y: rest };
  return [
    set(value, w.apply('f32x4.add', sum, loadColumns(lost))),
    set(before, loadColumns(place)),
    set(total, w.apply('f32x4.add', before, value)),
    ...(storeLast?.(total) ?? [
      ...storeColumns(place, total),
      ...storeColumns(lost, w.apply('f32x4.sub', value, w.apply('f32x4.sub', total, before))),
    ]),
  ];
}

/** Columns, zeros behind them. */
export function loadColumns({ y, offset, count }: Columns): Expression {
  if (count >= 4) return w.load('v128', y, offset);
  return firstLanes(count, (i) => w.load('f32', y, offset + i * FLOAT));
}

interface RowPlace {
  /** Addresses of the tile's first element, and of the bias for it. */
  readonly y: Local;
  readonly c: Local | undefined;
  /** Of the columns in y, in bytes, and in columns and rows from the tile's first element. */
  readonly offset: number;
  readonly row: number;
  readonly column: number;
  readonly count: number;
}

function biasOf(c: Local, strides: BiasStrides, { row, column, count }: RowPlace): Expression {
  const offset = (row * strides.row + column * strides.column) * FLOAT;
  if (strides.column === 0) return w.load('splat32', c, offset);
  return loadColumns({ y: c, offset, count });
}

/** A vector of so many scalars, zeros behind them. */
export function firstLanes(count: number, scalar: (index: number) => Expression): Expression {
  return Array.from({ length: count }).reduce<Expression>(
    (value, _, index) => w.withLane('f32x4', value, { index, scalar: scalar(index) }),
    w.f32x4(0),
  );
}

/** Addresses of an element of the result, and of its bias where there is one. */
export function resultPlaces(
  { n, c: strides }: MatmulProblem,
  {
    y,
    c,
    row,
    column,
  }: {
    readonly y: Local;
    readonly c: Local | undefined;
    readonly row: Expression;
    readonly column: Expression;
  },
): Expression[] {
  const at = (base: Local, perRow: number, perColumn: number) =>
    plus(base, plus(times(row, perRow * FLOAT), times(column, perColumn * FLOAT)));
  return [at(y, n, 1), ...(c && strides ? [at(c, strides.row, strides.column)] : [])];
}
