import { FLOAT as WORD, lesser, plus, times } from '../../wasm/address.ts';
import type { Expression, Local } from '../../wasm/expression.ts';
import * as w from '../../wasm/expression.ts';
import { partWidths, forParts } from '../../wasm/for-parts.ts';
import type { Statement, WasmFunction } from '../../wasm/statement.ts';
import * as s from '../../wasm/statement.ts';
import type { MatrixStrides } from '../linear/matmul-problem.ts';
import type { WasmKernel } from '../lowering/wasm-lowering.ts';

/** Bytes with or without a sign. */
export type ByteSign = 's' | 'u';

/** Zero points of a matrix: elements from one row or column to the next, and along the batch. */
export interface ZeroStrides {
  readonly stride: number;
  readonly batch: readonly number[];
}

/** An exact product of matrices of bytes, less their zero points. */
interface IntegerProblem {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly batch: readonly number[];
  readonly a: MatrixStrides;
  readonly b: MatrixStrides;
  readonly signs: readonly [ByteSign, ByteSign];
  /** Strides of the zero points of the rows of a; undefined: these are 0. */
  readonly aZeros: ZeroStrides | undefined;
  /**
   * Strides of the zero points of the columns of b; undefined where its panels come without any.
   */
  readonly bZeros: ZeroStrides | undefined;
}

/** Where panels of b come from. Absent: from the matrix. */
export interface PairSource {
  /** True if `pack` subtracts zero points from the panels. */
  readonly takesZeros: boolean;
  readonly functions: readonly WasmFunction[];
  /** Writes the panels from `first` up to `end`, of the matrix that begins at `b`. */
  pack(
    place: { readonly b: Local; readonly zeros: Local; readonly panels: Local },
    first: Expression,
    end: Expression,
  ): readonly Statement[];
}

/** The inputs by their roles, for calls that have them in other orders. */
interface IntegerPlaces {
  readonly a: Local;
  readonly b: Local;
  readonly aZero: Local | undefined;
  readonly bZero: Local | undefined;
  readonly y: Local;
}

/** Columns of a panel, two vectors; rows of a tile. */
export const COLUMNS = 8;
const ROWS = 4;
/** Bytes of panels that are in memory together. */
const PANELS_BYTES = 2 ** 19;

/**
 * Tiles of registers: a's rows are pairs of 16 bits, less their zero points; of b a panel has eight
 * columns, each pair of its rows next to each other, so that an instruction adds up both. The zero points
 * of b take the sum of a row.
 */
export function integerKernel(
  problem: IntegerProblem,
  placesOf: (inputs: readonly (Local | undefined)[], y: Local) => IntegerPlaces | undefined,
  source: PairSource = matrixPairs(problem),
): WasmKernel {
  const { m, n, k, batch } = problem;
  const pairs = Math.ceil(k / 2);
  const panels = Math.ceil(n / COLUMNS);
  const tiled = source.takesZeros ? { ...problem, bZeros: undefined } : problem;
  const panelBytes = Math.max(pairs, 1) * COLUMNS * WORD;
  const atOnce = Math.max(1, Math.min(panels, Math.floor(PANELS_BYTES / panelBytes)));
  return {
    functions: [
      ...source.functions,
      packRows(problem),
      ...partWidths(m, ROWS).flatMap((rows) =>
        partWidths(n, COLUMNS).map((columns) => tile(tiled, rows, columns)),
      ),
    ],
    scratch: [Math.max(m * pairs, 4) * WORD, Math.max(m, 4) * WORD, atOnce * panelBytes],
    units: panels,
    work: batch.reduce((product, size) => product * size, m * n * k),
    body({ inputs, output, scratch: [rowPairs, sums, panelPlace], units }) {
      const places = placesOf(inputs, output);
      if (places === undefined || !(rowPairs && sums && panelPlace)) return [];
      const indices = batch.map(() => w.local('i32'));
      const at = (base: Local, strides: readonly number[], bytes: number): Expression =>
        indices.reduce<Expression>(
          (sum, index, axis) => plus(sum, times(index, (strides[axis] ?? 0) * bytes)),
          base,
        );
      const [a, b, aZero, bZero, y] = w.locals(5);
      const outputStrides = batch.map((_, axis) =>
        batch.slice(axis + 1).reduce((product, size) => product * size, m * n),
      );
      const [first, end, row, panel] = w.locals(4);
      const callTile = (rows: number, columns: number): Statement =>
        s.call(tileName(rows, columns), [
          plus(rowPairs, times(row, pairs * WORD)),
          plus(panelPlace, times(w.apply('i32.sub', panel, first), panelBytes)),
          plus(y, times(plus(times(row, n), times(panel, COLUMNS)), WORD)),
          plus(sums, times(row, WORD)),
          plus(bZero, times(panel, COLUMNS * (problem.bZeros?.stride ?? 0))),
        ]);
      const forPanels = (rows: number): Statement[] =>
        forParts({ index: panel, first, end, count: n, width: COLUMNS }, (columns) => [
          callTile(rows, columns),
        ]);
      const whole = m - (m % ROWS);
      const inner: Statement[] = [
        s.set(a, at(places.a, problem.a.batch, 1)),
        s.set(b, at(places.b, problem.b.batch, 1)),
        s.set(y, at(places.y, outputStrides, WORD)),
        s.set(aZero, at(places.aZero ?? places.a, problem.aZeros?.batch ?? [], 1)),
        s.set(bZero, at(places.bZero ?? places.b, problem.bZeros?.batch ?? [], 1)),
        s.call('rows', [a, aZero, rowPairs, sums]),
        ...s.loop({ index: first, begin: units.first, end: units.end, step: atOnce }, [
          s.set(end, lesser(plus(first, atOnce), units.end)),
          ...source.pack({ b, zeros: bZero, panels: panelPlace }, first, end),
          ...s.loop({ index: row, end: w.i32(whole), step: ROWS }, forPanels(ROWS)),
          ...(m % ROWS === 0 ? [] : [s.set(row, w.i32(whole)), ...forPanels(m % ROWS)]),
        ]),
      ];
      return indices.reduceRight<Statement[]>(
        (statements, index, axis) => s.loop({ index, end: w.i32(batch[axis] ?? 1) }, statements),
        m * n === 0 ? [] : inner,
      );
    },
  };
}

const tileName = (rows: number, columns: number): string => `tile${rows}x${columns}`;

const byteAt = (sign: ByteSign, address: Expression, offset = 0): Expression =>
  w.load(sign === 's' ? 'i8_s' : 'i8_u', address, offset);

/** `rows(a, zeros, to, sums)`: rows of a as pairs of 16 bits, zeros behind the last one, and their sums. */
function packRows({ m, k, a: strides, signs: [sign], aZeros }: IntegerProblem): WasmFunction {
  const [a, zeros, to, sums, row, index, from, zero, sum, value] = w.locals(10);
  const [wide, total] = w.locals(2, 'v128');
  const whole = strides.column === 1 ? k - (k % 8) : 0;
  const vectors = s.loop({ index, end: w.i32(whole), step: 8 }, [
    s.set(
      wide,
      w.apply(
        'i16x8.sub',
        w.load(sign === 's' ? 'i8x8_s' : 'i8x8_u', from),
        w.apply('i16x8.splat', zero),
      ),
    ),
    s.store('v128', { address: to }, wide),
    s.set(
      total,
      w.apply(
        'i32x4.add',
        total,
        w.apply('i32x4.dot_i16x8_s', wide, w.apply('i16x8.splat', w.i32(1))),
      ),
    ),
    s.increment(from, 8),
    s.increment(to, 16),
  ]);
  const added = [0, 1, 2, 3]
    .map((i) => w.lane('i32x4', total, i))
    .reduce((x, y) => w.apply('i32.add', x, y));
  return {
    name: 'rows',
    params: [a, zeros, to, sums],
    body: s.loop({ index: row, end: w.i32(m) }, [
      s.set(from, plus(a, times(row, strides.row))),
      s.set(
        zero,
        aZeros === undefined ? w.i32(0) : byteAt(sign, plus(zeros, times(row, aZeros.stride))),
      ),
      s.set(total, w.i32x4(0)),
      ...vectors,
      s.set(sum, added),
      ...s.loop({ index, begin: w.i32(whole), end: w.i32(k) }, [
        s.set(value, w.apply('i32.sub', byteAt(sign, from), zero)),
        s.set(sum, w.apply('i32.add', sum, value)),
        s.store('i16', { address: to }, value),
        s.increment(from, strides.column),
        s.increment(to, 2),
      ]),
      ...(k % 2 === 0 ? [] : [s.store('i16', { address: to }, w.i32(0)), s.increment(to, 2)]),
      s.store('i32', { address: sums }, sum),
      s.increment(sums, WORD),
    ]),
  };
}

/** `tile(a, panel, y, sums, zeros)`: the products of some rows with a panel. */
function tile(
  { k, n, signs: [, sign], bZeros }: IntegerProblem,
  rows: number,
  columns: number,
): WasmFunction {
  const [a, panel, y, sums, zeros] = w.locals(5);
  const pairs = Math.ceil(k / 2);
  const vectors = Math.ceil(columns / 4);
  const totals = Array.from({ length: rows }, () => w.locals(vectors, 'v128'));
  const [b, value, index] = [w.locals(vectors, 'v128'), w.local('v128'), w.local('i32')];
  const step = (at: number): Statement[] => [
    ...b.map((target, v) => s.set(target, w.load('v128', panel, at * COLUMNS * WORD + v * 16))),
    ...totals.flatMap((row, r) => [
      s.set(value, w.load('splat32', a, (at + r * pairs) * WORD)),
      ...row.flatMap((total, v) => {
        const factor = b[v];
        if (factor === undefined) return [];
        return [
          s.set(total, w.apply('i32x4.add', total, w.apply('i32x4.dot_i16x8_s', value, factor))),
        ];
      }),
    ]),
  ];
  const unroll = 4;
  const steps = (count: number): Statement[] => [
    ...Array.from({ length: count }, (_, at) => step(at)).flat(),
    s.increment(a, count * WORD),
    s.increment(panel, count * COLUMNS * WORD),
  ];
  const finish = totals.flatMap((row, r) =>
    row.flatMap((total, v): Statement[] => {
      const count = Math.min(columns - v * 4, 4);
      const offset = (r * n + v * 4) * WORD;
      const less =
        bZeros === undefined
          ? []
          : [
              s.set(
                total,
                w.apply(
                  'i32x4.sub',
                  total,
                  w.apply(
                    'i32x4.mul',
                    w.load('splat32', sums, r * WORD),
                    zerosOf({ zeros, sign, stride: bZeros.stride }, v * 4, count),
                  ),
                ),
              ),
            ];
      if (count === 4) return [...less, s.store('v128', { address: y, offset }, total)];
      return [
        ...less,
        ...Array.from({ length: count }, (_, i) =>
          s.store('i32', { address: y, offset: offset + i * WORD }, w.lane('i32x4', total, i)),
        ),
      ];
    }),
  );
  return {
    name: tileName(rows, columns),
    params: [a, panel, y, sums, zeros],
    body: [
      ...totals.flat().map((total) => s.set(total, w.i32x4(0))),
      ...s.loop({ index, end: w.i32(Math.floor(pairs / unroll)) }, steps(unroll)),
      ...(pairs % unroll === 0 ? [] : steps(pairs % unroll)),
      ...finish,
    ],
  };
}

interface ZeroBytes {
  readonly zeros: Local;
  readonly sign: ByteSign;
  readonly stride: number;
}

/** The zero points of four columns, or of the first `count`. */
function zerosOf({ zeros, sign, stride }: ZeroBytes, column: number, count: number): Expression {
  if (stride === 0) return w.apply('i32x4.splat', byteAt(sign, zeros));
  if (count < 4) {
    return Array.from({ length: count }).reduce<Expression>((value, _, index) => {
      const scalar = byteAt(sign, zeros, column + index);
      return w.withLane('i32x4', value, { index, scalar });
    }, w.i32x4(0));
  }
  const words = w.apply(`i16x8.extend_low_i8x16_${sign}`, w.load('zero32', zeros, column));
  return w.apply(`i32x4.extend_low_i16x8_${sign}`, words);
}

/** Bytes of two vectors of 16-bit lanes, by turns. */
const LOW_PAIRS = [0, 1, 2, 3].flatMap((i) => [2 * i, 2 * i + 1, 16 + 2 * i, 17 + 2 * i]);
const HIGH_PAIRS = LOW_PAIRS.map((byte) => byte + 8);

/** Panels of a matrix in memory. */
function matrixPairs(problem: IntegerProblem): PairSource {
  return {
    takesZeros: false,
    functions: [packPanel(problem)],
    pack({ b, panels }, first, end) {
      const index = w.local('i32');
      const panelBytes = Math.ceil(problem.k / 2) * COLUMNS * WORD;
      return s.loop({ index, begin: first, end }, [
        s.call('pack', [
          plus(b, times(index, COLUMNS * problem.b.column)),
          plus(panels, times(w.apply('i32.sub', index, first), panelBytes)),
          plus(w.i32(problem.n), times(index, -COLUMNS)),
        ]),
      ]);
    },
  };
}

/** `pack(b, panel, left)`: up to eight columns by pairs of rows, of which `left` are in the matrix. */
function packPanel({ k, b: strides, signs: [, sign] }: IntegerProblem): WasmFunction {
  const [b, panel, left, row, column, upper, lower] = w.locals(7);
  const [x, y] = w.locals(2, 'v128');
  const wide = sign === 's' ? 'i8x8_s' : 'i8x8_u';
  const pairRow = (hasSecond: boolean): Statement[] => [
    s.set(x, w.load(wide, upper)),
    s.set(y, hasSecond ? w.load(wide, lower) : w.i32x4(0)),
    s.store('v128', { address: panel }, w.shuffle(x, y, LOW_PAIRS)),
    s.store('v128', { address: panel, offset: 16 }, w.shuffle(x, y, HIGH_PAIRS)),
  ];
  const element = (from: Local): Expression =>
    byteAt(sign, plus(from, times(column, strides.column)));
  const scalarRow = (hasSecond: boolean): Statement[] =>
    s.loop({ index: column, end: w.i32(COLUMNS) }, [
      ...s.when(
        w.apply('i32.lt_s', column, left),
        [
          s.store('i16', { address: plus(panel, times(column, WORD)) }, element(upper)),
          s.store(
            'i16',
            { address: plus(panel, times(column, WORD)), offset: 2 },
            hasSecond ? element(lower) : w.i32(0),
          ),
        ],
        [s.store('i32', { address: plus(panel, times(column, WORD)) }, w.i32(0))],
      ),
    ]);
  const forRows = (body: (hasSecond: boolean) => Statement[]): Statement[] => [
    s.set(upper, b),
    ...s.loop({ index: row, end: w.i32(Math.floor(k / 2)) }, [
      s.set(lower, plus(upper, strides.row)),
      ...body(true),
      s.increment(upper, 2 * strides.row),
      s.increment(panel, COLUMNS * WORD),
    ]),
    ...(k % 2 === 0 ? [] : body(false)),
  ];
  const isWhole = w.apply('i32.ge_s', left, w.i32(COLUMNS));
  return {
    name: 'pack',
    params: [b, panel, left],
    body:
      strides.column === 1
        ? s.when(isWhole, forRows(pairRow), forRows(scalarRow))
        : forRows(scalarRow),
  };
}
