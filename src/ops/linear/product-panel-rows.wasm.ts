import { FLOAT, plus, times } from '../../wasm/address.ts';
import type { Expression, Local } from '../../wasm/expression.ts';
import * as w from '../../wasm/expression.ts';
import { partWidths, forParts } from '../../wasm/for-parts.ts';
import type { Statement, WasmFunction } from '../../wasm/statement.ts';
import * as s from '../../wasm/statement.ts';
import type { WasmKernel } from '../lowering/wasm-lowering.ts';
import { LONG_PRODUCT, sumLoop } from '../reduction/sum-loop.wasm.ts';
import type { MatmulProblem } from './matmul-problem.ts';
import type { Addresses } from './product-frame.wasm.ts';
import * as frame from './product-frame.wasm.ts';
import { COLUMNS, layoutOfB, panelBytes } from './product-panels.wasm.ts';
import { panelPack } from './pack-panels.wasm.ts';
import { UNIT_COLUMNS } from './product-stream.wasm.ts';

/** Vectors of a panel's columns. */
const VECTORS = COLUMNS / 4;
/** How many depths a round has. */
const UNROLL = 4;
/** Sums that are added up beside each other: fewer would wait for themselves. */
const SUMS = 8;
/** Panels that are read beside each other: one alone waits for memory, of 64 MiB half as long again. */
const MOST_PANELS = 4;
/** Panels of a unit, a multiple of those that are read beside each other. */
const UNIT_PANELS = UNIT_COLUMNS / COLUMNS;

/**
 * A few rows times a large constant in panels, of which memory is read from one end to the other; `whole`
 * is the kernel for a matrix that is no constant, with the same units.
 */
export function panelRowsKernel(problem: MatmulProblem, whole: WasmKernel): WasmKernel {
  const { m, n } = problem;
  const panels =
    2 ** Math.floor(Math.log2(Math.min(Math.max(SUMS / (m * VECTORS), 1), MOST_PANELS)));
  const width = panels * COLUMNS;
  return {
    ...whole,
    functions: [
      ...(whole.functions ?? []),
      ...partWidths(n, width).map((columns) => rowsFunction(problem, columns)),
    ],
    packs: [
      {
        ...panelPack(1, layoutOfB(problem)),
        isOptional: true,
        ...(frame.isOneMatrix(problem) && { unitByteLength: UNIT_PANELS * panelBytes(problem) }),
      },
    ],
    body(places) {
      const [packed] = places.packed;
      if (packed === undefined) return whole.body(places);
      const group = w.local('i32');
      const callRows = ({ a, c, y }: Addresses, columns: number): Statement =>
        s.call(`rows${columns}`, [
          a,
          plus(packed, times(group, panels * panelBytes(problem))),
          ...frame.resultPlaces(problem, { y, c, row: w.i32(0), column: times(group, width) }),
        ]);
      const ofPanels = frame.forUnits(problem, Math.ceil(n / UNIT_COLUMNS), {
        places,
        body: (addresses, range) => {
          const groups = UNIT_PANELS / panels;
          const [first, end] = [times(range.first, groups), times(range.end, groups)];
          const parts = { index: group, first, end, count: n, width };
          return forParts(parts, (columns) => [callRows(addresses, columns)]);
        },
      });
      return s.when(packed, ofPanels, whole.body(places));
    },
  };
}

/** `rows<columns>(a, panel, y, c?)`: all rows of a times the panels of some columns. */
function rowsFunction(problem: MatmulProblem, columns: number): WasmFunction {
  const { m, n, k, a } = problem;
  const [pa, pb, y, index] = w.locals(4);
  const c = problem.c && w.local('i32');
  const vectors = Math.ceil(columns / COLUMNS) * VECTORS;
  const phases = Math.max(Math.floor(SUMS / (m * vectors)), 1);
  const places = Array.from({ length: m * vectors }, (_, i) => {
    const [row, column] = [Math.floor(i / vectors), (i % vectors) * 4];
    const sums = w.locals(phases, 'v128');
    return { row, column, sums };
  });
  const [value, b] = [w.local('v128'), w.locals(vectors, 'v128')];
  const offsetOf = (at: number, vector: number): number =>
    Math.floor(vector / VECTORS) * panelBytes(problem) +
    (at * COLUMNS + (vector % VECTORS) * 4) * FLOAT;
  const step = (at: number): Statement[] => [
    ...b.map((vector, v) => s.set(vector, w.load('v128', pb, offsetOf(at, v)))),
    ...places.flatMap(({ row, column, sums }) => {
      const [sum, factor] = [sums[at % phases], b[column / 4]];
      if (sum === undefined || factor === undefined) return [];
      const from = w.load('splat32', pa, (row * a.row + at * a.column) * FLOAT);
      return [...(column === 0 ? [s.set(value, from)] : []), frame.addProduct(sum, value, factor)];
    }),
  ];
  const steps = (count: number): Statement[] => [
    ...Array.from({ length: count }, (_, at) => step(at)).flat(),
    s.increment(pa, count * a.column * FLOAT),
    s.increment(pb, count * COLUMNS * FLOAT),
  ];
  return {
    name: `rows${columns}`,
    params: c ? [pa, pb, y, c] : [pa, pb, y],
    body: [
      ...places.flatMap(({ sums }) => sums.map((sum) => s.set(sum, w.f32x4(0)))),
      ...sumLoop(
        {
          index,
          rounds: Math.floor(k / UNROLL),
          longest: LONG_PRODUCT / UNROLL,
          block: 16,
          sums: places.flatMap(({ sums }) => sums),
        },
        steps(UNROLL),
      ),
      ...(k % UNROLL === 0 ? [] : steps(k % UNROLL)),
      ...places
        .filter(({ column }) => column < columns)
        .flatMap(({ row, column, sums }) => {
          const count = Math.min(columns - column, 4);
          const place = { y, c, offset: (row * n + column) * FLOAT, row, column, count };
          return frame.storeRow(problem, totalOf(sums), place);
        }),
    ],
  };
}

const totalOf = ([first, ...others]: readonly Local[]) =>
  others.reduce<Expression>((sum, other) => w.apply('f32x4.add', sum, other), first ?? w.f32x4(0));
