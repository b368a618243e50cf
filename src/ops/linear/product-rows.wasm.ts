import { FLOAT, plus, times } from '../../wasm/address.ts';
import type { Expression, Local } from '../../wasm/expression.ts';
import * as w from '../../wasm/expression.ts';
import { forParts, partWidths } from '../../wasm/for-parts.ts';
import type { Statement, WasmFunction } from '../../wasm/statement.ts';
import * as s from '../../wasm/statement.ts';
import type { WasmKernel } from '../lowering/wasm-lowering.ts';
import { LONG_PRODUCT, sumLoop } from '../reduction/sum-loop.wasm.ts';
import type { MatmulProblem } from './matmul-problem.ts';
import * as frame from './product-frame.wasm.ts';

/** Columns that one pass over b's rows adds up where there are few rows. */
const WIDE_COLUMNS = 32;

/** A few rows: passes over b's rows, each of which adds up some columns. */
export const rowKernel = (problem: MatmulProblem): WasmKernel =>
  partsKernel(problem, {
    width: WIDE_COLUMNS,
    functionOf: (width) => sumsFunction(problem, width),
    isByRows: false,
  });

interface Parts {
  /** How many columns a part has. */
  readonly width: number;
  /** `columns<width>(a, b, y, c?)`: a row of a times so many columns. */
  readonly functionOf: (width: number) => WasmFunction;
  /**
   * True: a row is multiplied by all parts before the next row. False: a part by all rows before
   * the next part.
   */
  readonly isByRows: boolean;
}

function partsKernel(problem: MatmulProblem, parts: Parts): WasmKernel {
  const { m, n, a, b } = problem;
  const { width, functionOf, isByRows } = parts;
  return {
    functions: partWidths(n, width).map(functionOf),
    ...frame.columnUnits(problem, width),
    work: frame.productWork(problem),
    body: (places) =>
      frame.forUnits(problem, Math.ceil(n / width), {
        places,
        body({ a: placeA, b: placeB, c, y }, range) {
          const [row, part] = w.locals(2);
          const column = times(part, width);
          const ofPart = (columns: number): Statement[] => [
            s.call(`columns${columns}`, [
              plus(placeA, times(row, a.row * FLOAT)),
              plus(placeB, times(column, b.column * FLOAT)),
              ...frame.resultPlaces(problem, { y, c, row, column }),
            ]),
          ];
          const all = { index: part, ...range, count: n, width };
          const forRows = (body: Statement[]) => s.loop({ index: row, end: w.i32(m) }, body);
          return isByRows
            ? forRows(forParts(all, ofPart))
            : forParts(all, (columns) => forRows(ofPart(columns)));
        },
      }),
  };
}

function sumsFunction(problem: MatmulProblem, width: number): WasmFunction {
  const { k, a, b } = problem;
  const [pa, pb, y, index] = w.locals(4);
  const c = problem.c && w.local('i32');
  const sums = w.locals(Math.ceil(width / 4), 'v128');
  const value = w.local('v128');
  const countOf = (v: number) => Math.min(width - v * 4, 4);
  return {
    name: `columns${width}`,
    params: c ? [pa, pb, y, c] : [pa, pb, y],
    body: [
      ...sums.map((sum) => s.set(sum, w.f32x4(0))),
      ...sumLoop({ index, rounds: k, longest: LONG_PRODUCT, block: 64, sums }, [
        s.set(value, w.load('splat32', pa)),
        ...sums.map((sum, v) =>
          frame.addProduct(sum, value, partialRow(pb, { offset: v * 4, count: countOf(v), b })),
        ),
        s.increment(pa, a.column * FLOAT),
        s.increment(pb, b.row * FLOAT),
      ]),
      ...sums.flatMap((sum, v) => {
        const place = { y, c, offset: v * 16, row: 0, column: v * 4, count: countOf(v) };
        return frame.storeRow(problem, sum, place);
      }),
    ],
  };
}

/** Columns of a row of b, zeros behind the first `count`. */
function partialRow(
  pb: Local,
  { offset, count, b }: { offset: number; count: number; b: MatmulProblem['b'] },
): Expression {
  if (count === 4 && b.column === 1) return w.load('v128', pb, offset * FLOAT);
  if (count === 1 || b.column === 0) return w.load('zero32', pb, offset * b.column * FLOAT);
  return frame.firstLanes(count, (i) => w.load('f32', pb, (offset + i) * b.column * FLOAT));
}

/** A few rows of a with columns of b that lie next to each other: dot products, four columns at once. */
export function dotKernel(problem: MatmulProblem): WasmKernel {
  // The rows of a are read by vectors too.
  if (problem.a.column !== 1) return rowKernel(problem);
  const functionOf = (width: number) => dotFunction(problem, width);
  return partsKernel(problem, { width: 4, functionOf, isByRows: true });
}

function dotFunction(problem: MatmulProblem, width: number): WasmFunction {
  const { k, b } = problem;
  const [pa, pb, y] = w.locals(3);
  const c = problem.c && w.local('i32');
  const sums = w.locals(width, 'v128');
  const [value, index] = [w.local('v128'), w.local('i32')];
  const left = k % 4;
  const total = w.local('v128');
  const rest: Statement[] = Array.from({ length: left }, (_, i) =>
    sums.map((sum, column) =>
      frame.addProduct(
        sum,
        w.load('zero32', pa, i * FLOAT),
        w.load('zero32', pb, (i + column * b.column) * FLOAT),
      ),
    ),
  ).flat();
  return {
    name: `columns${width}`,
    params: c ? [pa, pb, y, c] : [pa, pb, y],
    body: [
      ...sums.map((sum) => s.set(sum, w.f32x4(0))),
      ...sumLoop({ index, rounds: Math.floor(k / 4), longest: LONG_PRODUCT / 4, sums }, [
        s.set(value, w.load('v128', pa)),
        ...sums.map((sum, column) =>
          frame.addProduct(sum, value, w.load('v128', pb, column * b.column * FLOAT)),
        ),
        s.increment(pa, 16),
        s.increment(pb, 16),
      ]),
      ...rest,
      s.set(total, acrossLanes(sums)),
      ...frame.storeRow(problem, total, { y, c, offset: 0, row: 0, column: 0, count: width }),
    ],
  };
}

/** Lane i is the sum of the lanes of vector i. */
export function acrossLanes([a, b = a, c = a, d = a]: readonly Local[]): Expression {
  if (a === undefined || b === undefined || c === undefined || d === undefined) return w.f32x4(0);
  const pairs = (x: Expression, y: Expression): Expression =>
    w.apply('f32x4.add', w.shuffle32(x, y, [0, 2, 4, 6]), w.shuffle32(x, y, [1, 3, 5, 7]));
  return pairs(pairs(a, b), pairs(c, d));
}
