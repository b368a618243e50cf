import { FLOAT, lesser, plus, times } from '../../wasm/address.ts';
import type { Expression, Local } from '../../wasm/expression.ts';
import * as w from '../../wasm/expression.ts';
import type { Statement, WasmFunction } from '../../wasm/statement.ts';
import * as s from '../../wasm/statement.ts';
import type { UnitRange, WasmKernel } from '../lowering/wasm-lowering.ts';
import type { MatmulProblem } from './matmul-problem.ts';
import { LONG_PRODUCT } from '../reduction/sum-loop.wasm.ts';
import type { Addresses } from './product-frame.wasm.ts';
import * as frame from './product-frame.wasm.ts';

/** How many columns a unit has. */
export const UNIT_COLUMNS = 64;
/** Elements of a that stay in registers. */
const FACTORS = 8;
/** Vectors of columns a round. */
const UNROLL = 4;
/** Rows of b that are added up in memory of their own, where there are many. */
const BLOCK = 64;

/**
 * A few rows times a large matrix whose rows lie in order: these are read once, some at a time, and
 * added to the rows of the result, which stay in the cache. Of many rows a block is added up by itself, and then
 * added to the result with what that sum has rounded off.
 */
export function streamKernel(problem: MatmulProblem): WasmKernel {
  const { m, n, k, a, b } = problem;
  const parts = Math.ceil(n / UNIT_COLUMNS);
  const depth = Math.max(Math.floor(FACTORS / m), 1);
  const whole = k - (k % depth);
  const heights = [depth, k - whole].filter((rows) => rows > 0 && rows <= k);
  const isPlain = problem.alpha === 1 && problem.c === undefined;
  const isUneven = n % 4 > 0;
  const isLong = k > LONG_PRODUCT;
  return {
    functions: [
      clearFunction(problem),
      ...heights.map((rows) => addFunction(problem, rows)),
      ...(isPlain ? [] : [finishFunction(problem)]),
      ...(isLong ? [joinFunction(problem)] : []),
    ],
    scratch: isLong ? [m * n * FLOAT, m * n * FLOAT] : [],
    ...frame.columnUnits(problem, UNIT_COLUMNS),
    work: frame.productWork(problem),
    body: (places) => {
      const [row, begin, vectors, left, block] = w.locals(5);
      const body = (
        { a: placeA, b: placeB, c, y }: Addresses,
        { first, end }: UnitRange,
      ): Statement[] => {
        const toColumns = lesser(times(end, UNIT_COLUMNS), n);
        const add = (rows: number, from: Expression) =>
          s.call(`add${rows}`, [
            plus(placeA, times(from, a.column * FLOAT)),
            plus(placeB, plus(times(from, b.row * FLOAT), times(begin, FLOAT))),
            plus(sums, times(begin, FLOAT)),
            vectors,
            ...(isUneven ? [left] : []),
          ]);
        const [sums = y, rest = y] = isLong ? places.scratch : [];
        const memory = isLong ? [sums, y, rest] : [y];
        const ofColumns = (pointers: readonly Local[]) => [
          ...pointers.map((pointer) => plus(pointer, times(begin, FLOAT))),
          vectors,
          left,
        ];
        return [
          s.set(begin, times(first, UNIT_COLUMNS)),
          s.set(vectors, w.apply('i32.shr_u', w.apply('i32.sub', toColumns, begin), w.i32(2))),
          s.set(left, w.apply('i32.eq', end, w.i32(parts))),
          ...memory.map((pointer) => s.call('clear', ofColumns([pointer]))),
          ...(isLong
            ? s.loop({ index: block, end: w.i32(whole), step: BLOCK }, [
                ...s.loop(
                  {
                    index: row,
                    begin: block,
                    end: lesser(plus(block, BLOCK), whole),
                    step: depth,
                  },
                  [add(depth, row)],
                ),
                s.call('join', ofColumns(memory)),
              ])
            : s.loop({ index: row, end: w.i32(whole), step: depth }, [add(depth, row)])),
          ...(whole === k ? [] : [add(k - whole, w.i32(whole))]),
          ...(isLong ? [s.call('join', ofColumns(memory))] : []),
          ...(isPlain
            ? []
            : [
                s.call('finish', [
                  ...frame.resultPlaces(problem, { y, c, row: w.i32(0), column: begin }),
                  vectors,
                  left,
                ]),
              ]),
        ];
      };
      return frame.forUnits(problem, parts, { places, body });
    },
  };
}

/** `clear(y, vectors, isLast)`: zeros in all rows. */
function clearFunction({ m, n }: MatmulProblem): WasmFunction {
  const [y, vectors, isLast] = w.locals(3);
  return {
    name: 'clear',
    params: [y, vectors, isLast],
    body: forColumns({ n, pointers: [y], steps: [1], vectors, isLast }, (offset, count) =>
      Array.from({ length: m }, (_, r) =>
        frame.storeColumns({ y, offset: offset + r * n * FLOAT, count }, w.f32x4(0)),
      ).flat(),
    ),
  };
}

/** `add<rows>(a, b, y, vectors, isLast?)`: the products of some rows of b. */
function addFunction({ m, n, a, b }: MatmulProblem, rows: number): WasmFunction {
  const [pa, pb, y, vectors, isLast] = w.locals(5);
  const factors = Array.from({ length: m }, () => w.locals(rows, 'v128'));
  const elements = w.locals(rows, 'v128');
  const sum = w.local('v128');
  return {
    name: `add${rows}`,
    params: [pa, pb, y, vectors, ...(n % 4 > 0 ? [isLast] : [])],
    body: [
      ...factors.flatMap((row, r) =>
        row.map((factor, i) =>
          s.set(factor, w.load('splat32', pa, (r * a.row + i * a.column) * FLOAT)),
        ),
      ),
      ...forColumns({ n, pointers: [pb, y], steps: [1, 1], vectors, isLast }, (offset, count) => [
        ...(m === 1
          ? []
          : elements.map((element, i) =>
              s.set(
                element,
                frame.loadColumns({ y: pb, offset: offset + i * b.row * FLOAT, count }),
              ),
            )),
        ...factors.flatMap((row, r) => {
          const at = offset + r * n * FLOAT;
          const added = row.reduce<Expression>(
            (value, factor, i) => {
              const element = elements[i];
              const read = frame.loadColumns({ y: pb, offset: offset + i * b.row * FLOAT, count });
              return w.multiplyAdd(
                factor,
                m === 1 || element === undefined ? read : element,
                value,
              );
            },
            frame.loadColumns({ y: y, offset: at, count }),
          );
          return [s.set(sum, added), ...frame.storeColumns({ y, offset: at, count }, sum)];
        }),
      ]),
    ],
  };
}

/** `join(sums, y, rest, vectors, isLast)`: adds the sums to y, and clears them; what y rounds off is the rest. */
function joinFunction({ m, n }: MatmulProblem): WasmFunction {
  const [sums, y, rest, vectors, isLast] = w.locals(5);
  const pointers = [sums, y, rest];
  return {
    name: 'join',
    params: [...pointers, vectors, isLast],
    body: forColumns({ n, pointers, steps: [1, 1, 1], vectors, isLast }, (offset, count) =>
      Array.from({ length: m }, (_, r) => {
        const at = { offset: offset + r * n * FLOAT, count };
        return [
          ...frame.addCompensated(frame.loadColumns({ y: sums, ...at }), { y, rest, ...at }),
          ...frame.storeColumns({ y: sums, ...at }, w.f32x4(0)),
        ];
      }).flat(),
    ),
  };
}

/** `finish(y, c?, vectors, isLast)`: scales, and adds the bias. */
function finishFunction(problem: MatmulProblem): WasmFunction {
  const { m, n, c: strides } = problem;
  const [y, vectors, isLast] = w.locals(3);
  const c = strides && w.local('i32');
  const pointers = c ? [y, c] : [y];
  const steps = strides ? [1, strides.column] : [1];
  return {
    name: 'finish',
    params: [...pointers, vectors, isLast],
    body: forColumns({ n, pointers, steps, vectors, isLast }, (offset, count) =>
      Array.from({ length: m }, (_, row) => {
        const at = offset + row * n * FLOAT;
        const column = offset / FLOAT;
        const sum = frame.loadColumns({ y: y, offset: at, count });
        return frame.storeRow(problem, sum, { y, c, offset: at, row, column, count });
      }).flat(),
    ),
  };
}

interface Columns {
  readonly n: number;
  /** Moved with the columns by so many elements each. */
  readonly pointers: readonly Local[];
  readonly steps: readonly number[];
  readonly vectors: Local;
  /** Not 0 if columns follow that are no whole vector. */
  readonly isLast: Local;
}

/** Vectors of columns, some a round, then the columns of the last one that is not whole. */
function forColumns(
  { n, pointers, steps, vectors, isLast }: Columns,
  body: (offset: number, count: number) => readonly Statement[],
): Statement[] {
  const index = w.local('i32');
  const left = n % 4;
  const move = (count: number): Statement[] =>
    pointers.flatMap((pointer, i) =>
      steps[i] ? [s.increment(pointer, count * 4 * FLOAT * steps[i])] : [],
    );
  const round = (count: number): Statement[] => [
    ...Array.from({ length: count }, (_, v) => body(v * 16, 4)).flat(),
    ...move(count),
  ];
  const rounds = w.apply('i32.sub', vectors, w.i32(UNROLL - 1));
  return [
    ...s.loop({ index, end: rounds, step: UNROLL }, round(UNROLL)),
    ...s.loop({ index, begin: index, end: vectors }, round(1)),
    ...(left > 0 ? s.when(isLast, body(0, left)) : []),
  ];
}
