import { FLOAT } from '../../wasm/address.ts';
import { type Expression, f32x4, i32, load, local, locals } from '../../wasm/expression.ts';
import { increment, loop, set, type Statement, type WasmFunction } from '../../wasm/statement.ts';
import type { MatmulProblem } from './matmul-problem.ts';
import * as frame from './product-frame.wasm.ts';

/** Sums in registers, and which depths they are of. */
export interface TileShape {
  /** Rows of the tile, at most as many as a panel of a has. */
  readonly rows: number;
  /** Columns of the tile, at most as many as a panel of b has. */
  readonly columns: number;
  readonly depth: number;
  /** True if sums begin with these depths; otherwise they are added to what is in y. */
  readonly isFirst: boolean;
  /** True if sums are added to those in y with what these have rounded off, in columns of their own. */
  readonly isLong: boolean;
  /** True if sums are complete after these depths: results, to be scaled and biased. */
  readonly isLast: boolean;
}

/** How many depths a round has. */
const UNROLL = 4;
/** Rows of a panel of a, and columns of a panel of b. */
const PANEL_ROWS = 4;
const PANEL_COLUMNS = 8;

/** `tile(rows, panel, y, c?, rest?)`: the products of a panel of a with a panel of b. */
export function tileFunction(
  name: string,
  problem: MatmulProblem,
  { rows, columns, depth, isFirst, isLast, isLong }: TileShape,
): WasmFunction {
  const { n } = problem;
  const [pa, pb, y] = locals(3);
  const c = problem.c && local('i32');
  const rest = isLong ? local('i32') : undefined;
  const vectors = Math.ceil(columns / 4);
  const sums = Array.from({ length: rows }, () => locals(vectors, 'v128'));
  const [b, index] = [locals(vectors, 'v128'), local('i32')];
  const value = local('v128');
  const step = (at: number): Statement[] => [
    ...b.map((target, v) => set(target, load('v128', pb, at * PANEL_COLUMNS * FLOAT + v * 16))),
    ...sums.flatMap((row, r) => [
      set(value, load('splat32', pa, (at * PANEL_ROWS + r) * FLOAT)),
      ...row.flatMap((sum, v) => {
        const factor = b[v];
        return factor === undefined ? [] : [frame.addProduct(sum, value, factor)];
      }),
    ]),
  ];
  const steps = (count: number): Statement[] => [
    ...Array.from({ length: count }, (_, at) => step(at)).flat(),
    increment(pa, count * PANEL_ROWS * FLOAT),
    increment(pb, count * PANEL_COLUMNS * FLOAT),
  ];
  const places = sums.flatMap((row, r) =>
    row.map((sum, v) => {
      const count = Math.min(columns - v * 4, 4);
      return { sum, y, c, offset: (r * n + v * 4) * FLOAT, row: r, column: v * 4, count };
    }),
  );
  return {
    name,
    params: [pa, pb, y, ...(c ? [c] : []), ...(rest ? [rest] : [])],
    body: [
      ...places.map(({ sum, ...place }) =>
        set(sum, isFirst || isLong ? f32x4(0) : frame.loadColumns(place)),
      ),
      ...loop({ index, end: i32(Math.floor(depth / UNROLL)) }, steps(UNROLL)),
      ...(depth % UNROLL === 0 ? [] : steps(depth % UNROLL)),
      ...places.flatMap(({ sum, ...place }) => {
        const storeLast = isLast
          ? (total: Expression) => frame.storeRow(problem, total, place)
          : undefined;
        if (rest !== undefined && !isFirst) {
          return frame.addCompensated(sum, { ...place, rest }, storeLast);
        }
        const cleared = rest ? frame.storeColumns({ ...place, y: rest }, f32x4(0)) : [];
        return [...cleared, ...(storeLast?.(sum) ?? frame.storeColumns(place, sum))];
      }),
    ],
  };
}
