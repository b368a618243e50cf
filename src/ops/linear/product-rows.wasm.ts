import { FLOAT, lesser, plus, times } from '../../wasm/address.ts';
import {
  apply,
  type Expression,
  f32x4,
  i32,
  load,
  type Local,
  local,
  shuffle32,
} from '../../wasm/expression.ts';
import {
  call,
  increment,
  loop,
  set,
  type Statement,
  type WasmFunction,
  when,
} from '../../wasm/statement.ts';
import type { UnitRange, WasmKernel } from '../wasm-lowering.ts';
import type { MatmulProblem } from './matmul-problem.ts';
import {
  addProduct,
  type Addresses,
  firstLanes,
  forUnits,
  columnUnits,
  productWork,
  resultPlaces,
  storeRow,
} from './product-frame.wasm.ts';

/** Columns that one pass over b's rows adds up where there are few rows. */
const WIDE_COLUMNS = 32;

/** A few rows: passes over b's rows, each of which adds up some columns. */
export function rowKernel(problem: MatmulProblem): WasmKernel {
  const { m, n, k, a, b } = problem;
  const widths = [WIDE_COLUMNS, ...(n % WIDE_COLUMNS > 0 ? [n % WIDE_COLUMNS] : [])];
  const names = new Map(
    widths.filter((width) => width <= n).map((width) => [width, `columns${width}`]),
  );
  const functions = [...names].map(([width, name]): WasmFunction => {
    const [pa, pb, y] = [local('i32'), local('i32'), local('i32')];
    const c = problem.c && local('i32');
    const vectors = Math.ceil(width / 4);
    const sums = Array.from({ length: vectors }, () => local('v128'));
    const [value, index] = [local('v128'), local('i32')];
    const step: Statement[] = [
      set(value, load('splat32', pa)),
      ...sums.map((sum, v) =>
        addProduct(
          sum,
          value,
          partialRow(pb, { offset: v * 4, count: Math.min(width - v * 4, 4), b }),
        ),
      ),
      increment(pa, a.column * FLOAT),
      increment(pb, b.row * FLOAT),
    ];
    return {
      name,
      params: c ? [pa, pb, y, c] : [pa, pb, y],
      body: [
        ...sums.map((sum) => set(sum, f32x4(0))),
        ...loop({ index, end: i32(k) }, step),
        ...sums.flatMap((sum, v) =>
          storeRow(problem, sum, {
            y,
            c,
            offset: v * 16,
            row: 0,
            column: v * 4,
            count: Math.min(width - v * 4, 4),
          }),
        ),
      ],
    };
  });
  const parts = Math.ceil(n / WIDE_COLUMNS);
  const whole = Math.floor(n / WIDE_COLUMNS);
  return {
    functions,
    ...columnUnits(problem, WIDE_COLUMNS),
    work: productWork(problem),
    body: (places) => {
      const [row, block] = [local('i32'), local('i32')];
      const body = (
        { a: placeA, b: placeB, c, y }: Addresses,
        { first, end }: UnitRange,
      ): Statement[] => {
        const callWidth = (width: number) => {
          const column = times(block, WIDE_COLUMNS);
          return loop({ index: row, end: i32(m) }, [
            call(names.get(width) ?? '', [
              plus(placeA, times(row, a.row * FLOAT)),
              plus(placeB, times(column, b.column * FLOAT)),
              ...resultPlaces(problem, { y, c, row, column }),
            ]),
          ]);
        };
        return [
          ...(whole > 0
            ? loop({ index: block, begin: first, end: lesser(end, whole) }, callWidth(WIDE_COLUMNS))
            : []),
          ...(n % WIDE_COLUMNS === 0
            ? []
            : when(apply('i32.gt_s', end, i32(whole)), [
                set(block, i32(whole)),
                ...callWidth(n % WIDE_COLUMNS),
              ])),
        ];
      };
      return forUnits(problem, parts, { places, body });
    },
  };
}

/** Columns of a row of b, zeros behind the first `count`. */
function partialRow(
  pb: Local,
  { offset, count, b }: { offset: number; count: number; b: MatmulProblem['b'] },
): Expression {
  if (count === 4 && b.column === 1) return load('v128', pb, offset * FLOAT);
  if (count === 1 || b.column === 0) return load('zero32', pb, offset * b.column * FLOAT);
  return firstLanes(count, (i) => load('f32', pb, (offset + i) * b.column * FLOAT));
}

/** A few rows of a with columns of b that lie next to each other: dot products, four columns at once. */
export function dotKernel(problem: MatmulProblem): WasmKernel {
  const { m, n, a, b } = problem;
  // The rows of a are read by vectors too.
  if (a.column !== 1) return rowKernel(problem);
  const names = [4, ...(n % 4 > 0 ? [n % 4] : [])].filter((width) => width <= n);
  const functions = names.map((width): WasmFunction => dotFunction(problem, width));
  const parts = Math.ceil(n / 4);
  const whole = Math.floor(n / 4);
  return {
    functions,
    ...columnUnits(problem, 4),
    work: productWork(problem),
    body: (places) => {
      const [row, quad] = [local('i32'), local('i32')];
      const body = (
        { a: placeA, b: placeB, c, y }: Addresses,
        { first, end }: UnitRange,
      ): Statement[] => {
        const callWidth = (width: number) => {
          const column = times(quad, 4);
          return call(`dots${width}`, [
            plus(placeA, times(row, a.row * FLOAT)),
            plus(placeB, times(column, b.column * FLOAT)),
            ...resultPlaces(problem, { y, c, row, column }),
          ]);
        };
        return loop({ index: row, end: i32(m) }, [
          ...(whole > 0
            ? loop({ index: quad, begin: first, end: lesser(end, whole) }, [callWidth(4)])
            : []),
          ...(n % 4 === 0
            ? []
            : when(apply('i32.gt_s', end, i32(whole)), [set(quad, i32(whole)), callWidth(n % 4)])),
        ]);
      };
      return forUnits(problem, parts, { places, body });
    },
  };
}

/** `dots(a, b, y, c?)`: a row of a times `width` columns. */
function dotFunction(problem: MatmulProblem, width: number): WasmFunction {
  const { k, b } = problem;
  const [pa, pb, y] = [local('i32'), local('i32'), local('i32')];
  const c = problem.c && local('i32');
  const sums = Array.from({ length: width }, () => local('v128'));
  const [value, index] = [local('v128'), local('i32')];
  const left = k % 4;
  const total = local('v128');
  const rest: Statement[] = Array.from({ length: left }, (_, i) =>
    sums.map((sum, column) =>
      addProduct(
        sum,
        load('zero32', pa, i * FLOAT),
        load('zero32', pb, (i + column * b.column) * FLOAT),
      ),
    ),
  ).flat();
  return {
    name: `dots${width}`,
    params: c ? [pa, pb, y, c] : [pa, pb, y],
    body: [
      ...sums.map((sum) => set(sum, f32x4(0))),
      ...loop({ index, end: i32(Math.floor(k / 4)) }, [
        set(value, load('v128', pa)),
        ...sums.map((sum, column) =>
          addProduct(sum, value, load('v128', pb, column * b.column * FLOAT)),
        ),
        increment(pa, 16),
        increment(pb, 16),
      ]),
      ...rest,
      set(total, acrossLanes(sums)),
      ...storeRow(problem, total, { y, c, offset: 0, row: 0, column: 0, count: width }),
    ],
  };
}

/** Lane i is the sum of the lanes of vector i. */
function acrossLanes([a, b = a, c = a, d = a]: readonly Local[]): Expression {
  if (a === undefined || b === undefined || c === undefined || d === undefined) return f32x4(0);
  const pairs = (x: Expression, y: Expression): Expression =>
    apply('f32x4.add', shuffle32(x, y, [0, 2, 4, 6]), shuffle32(x, y, [1, 3, 5, 7]));
  return pairs(pairs(a, b), pairs(c, d));
}
