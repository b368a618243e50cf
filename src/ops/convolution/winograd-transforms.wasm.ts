import { FLOAT, plus, times, lesser } from '../../wasm/address.ts';
import type { Expression, Local } from '../../wasm/expression.ts';
import * as w from '../../wasm/expression.ts';
import { forParts } from '../../wasm/for-parts.ts';
import type { Statement, WasmFunction } from '../../wasm/statement.ts';
import * as s from '../../wasm/statement.ts';
import { add, mul, sub } from '../../wasm/floats.ts';
import { transposed } from '../linear/pack-panels.wasm.ts';
import { storeColumns } from '../linear/product-frame.wasm.ts';
import { COLUMNS, ROWS } from '../linear/product-panels.wasm.ts';
import type { OperandPack } from '../lowering/wasm-lowering.ts';
import type { PaddedVolumes } from './padded-volumes.wasm.ts';
import { strided } from './tap-nest.wasm.ts';
import type { Matrix, WinogradFilter } from './winograd-filter.ts';

/** A convolution of one group, and how it is divided. */
export interface WinogradPlan {
  readonly filter: WinogradFilter;
  readonly channels: number;
  readonly outChannels: number;
  /** Rows and columns of the result. */
  readonly height: number;
  readonly width: number;
  /** Tiles, and those of a row of them. */
  readonly tiles: number;
  readonly across: number;
  /** Panels of tiles that are in temporary memory together. */
  readonly lot: number;
  readonly hasBias: boolean;
}

/** Between the matrices of two points: of sizes that are powers of two all would want the same lines of a cache. */
const GAP = 64;

/** Bytes of the panels of an image of one channel after the other, for one point. */
export const imageBytes = ({ lot, channels }: WinogradPlan): number =>
  lot * channels * COLUMNS * FLOAT + GAP;

/** Bytes of the products of a point: a row for each channel, a column for each tile. */
export const productBytes = ({ lot, outChannels }: WinogradPlan): number =>
  lot * outChannels * COLUMNS * FLOAT + GAP;

/** Bytes of the panels of weights of a point. */
export const weightBytes = ({ outChannels, channels }: WinogradPlan): number =>
  Math.ceil(outChannels / ROWS) * ROWS * channels * FLOAT + GAP;

/** The weights of all points. */
export function weightsPack(plan: WinogradPlan): OperandPack {
  const { filter, channels, outChannels } = plan;
  const side = filter.weights.length;
  const [from, to, panel, channel, source, target] = w.locals(6);
  const packPanel = (count: number): Statement[] => [
    s.set(source, plus(from, times(panel, ROWS * channels * 9 * FLOAT))),
    s.set(target, plus(to, times(panel, ROWS * channels * FLOAT))),
    ...s.loop({ index: channel, end: w.i32(channels) }, [
      ...transform(filter.weights, {
        take: (row) =>
          [0, 1, 2].map((column) =>
            strided(source, (row * 3 + column) * FLOAT, { stride: channels * 9, count }),
          ),
        give: (row, values) => storePoints(values, { to: target, row, apart: weightBytes(plan) }),
      }),
      s.increment(source, 9 * FLOAT),
      s.increment(target, ROWS * FLOAT),
    ]),
  ];
  const all: WasmFunction = {
    name: 'all',
    params: [from, to],
    body: forParts({ index: panel, count: outChannels, width: ROWS }, packPanel),
  };
  return {
    operand: 0,
    layout: `winograd ${[side, outChannels, channels].join()}`,
    byteLength: side ** 2 * weightBytes(plan),
    functions: [all],
  };
}

/** `image(x, panel, first)`: all channels of four tiles, to one half of a panel of each point. */
export function imageFunction(plan: WinogradPlan, { sizes, volume }: PaddedVolumes): WasmFunction {
  const { filter, channels } = plan;
  const [x, panel, first, channel] = w.locals(4);
  const sources = fourLocals('i32');
  const [, , width] = sizes;
  const step = filter.output.length * FLOAT;
  /** Loads a row of each of the four tiles: lane i is of tile i. */
  const take = (row: number, statements: Statement[]): readonly Expression[] => {
    const columns = (column: number, count: 2 | 4) => {
      const at = (row * width + column) * FLOAT;
      const loads = sources.map((source) => w.load(count === 2 ? 'zero64' : 'v128', source, at));
      return transposed(loads.map(s.binder(statements)), statements).slice(0, count);
    };
    return [...columns(0, 4), ...(filter.image.length > 4 ? columns(4, 2) : [])];
  };
  return {
    name: 'image',
    params: [x, panel, first],
    body: [
      ...sources.flatMap((source, i) =>
        withTile(plan, plus(first, i), ({ row, column }) => [
          s.set(source, plus(x, plus(times(row, width * step), times(column, step)))),
        ]),
      ),
      ...s.loop({ index: channel, end: w.i32(channels) }, [
        ...transform(filter.image, {
          take,
          give: (row, values) => storePoints(values, { to: panel, row, apart: imageBytes(plan) }),
        }),
        ...sources.map((source) => s.increment(source, volume * FLOAT)),
        s.increment(panel, COLUMNS * FLOAT),
      ]),
    ],
  };
}

/** `output(products, y, first, bias?)`: all channels of four tiles, from the products of each point. */
export function outputFunction(plan: WinogradPlan): WasmFunction {
  const { filter, outChannels, height, width, lot, hasBias } = plan;
  const [side, step] = [filter.image.length, filter.output.length];
  const [products, y, first, bias] = w.locals(4);
  const [channel, added] = [w.local('i32'), w.local('v128')];
  const targets = fourLocals('i32').map((place) => ({
    place,
    isWholeRow: w.local('i32'),
    isWholeColumn: w.local('i32'),
  }));
  const give = (row: number, values: readonly Expression[]): Statement[] => {
    const statements: Statement[] = [];
    const bind = s.binder(statements);
    const sums = values.map((value) => bind(hasBias ? add(value, added) : value));
    const ofTiles = rowsOfTiles(sums, statements).map(bind);
    const stores = targets.flatMap((target, i) =>
      storeRow(plan, { ...target, row }, ofTiles[i] ?? added),
    );
    return [...statements, ...stores];
  };
  return {
    name: 'output',
    params: [products, y, first, ...(hasBias ? [bias] : [])],
    body: [
      ...targets.flatMap(({ place, isWholeRow, isWholeColumn }, i) =>
        withTile(plan, plus(first, i), ({ row, column }) => [
          s.set(place, plus(y, times(plus(times(row, width), column), step * FLOAT))),
          s.set(isWholeRow, w.apply('i32.lt_s', row, w.i32(Math.floor(height / step)))),
          s.set(isWholeColumn, w.apply('i32.lt_s', column, w.i32(Math.floor(width / step)))),
        ]),
      ),
      ...s.loop({ index: channel, end: w.i32(outChannels) }, [
        ...(hasBias ? [s.set(added, w.load('splat32', bias)), s.increment(bias, FLOAT)] : []),
        ...transform(filter.output, {
          take: (row) =>
            Array.from({ length: side }, (_, column) =>
              w.load('v128', products, (row * side + column) * productBytes(plan)),
            ),
          give,
        }),
        s.increment(products, lot * COLUMNS * FLOAT),
        ...targets.map(({ place }) => s.increment(place, height * width * FLOAT)),
      ]),
    ],
  };
}

const fourLocals = (type: 'i32' | 'v128'): readonly Local[] =>
  [0, 1, 2, 3].map(() => w.local(type));

interface TilePlace {
  readonly row: Expression;
  readonly column: Expression;
}

/** Statements that know the place of a tile; behind the last tile it is repeated. */
function withTile(
  { across, tiles }: WinogradPlan,
  index: Expression,
  body: (place: TilePlace) => readonly Statement[],
): Statement[] {
  const tile = w.local('i32');
  return [
    s.set(tile, index),
    s.set(tile, lesser(tile, tiles - 1)),
    ...body({
      row: w.apply('i32.div_u', tile, w.i32(across)),
      column: w.apply('i32.rem_u', tile, w.i32(across)),
    }),
  ];
}

interface TileTransform {
  /** A row of d, after statements of its own. */
  readonly take: (row: number, statements: Statement[]) => readonly Expression[];
  /** Statements that take a row of the result. */
  readonly give: (row: number, values: readonly Expression[]) => readonly Statement[];
}

/** Statements for M d M^T, with the matrix M and the tile d. */
function transform(matrix: Matrix, { take, give }: TileTransform): Statement[] {
  const statements: Statement[] = [];
  const bind = s.binder(statements);
  const halves = Array.from({ length: matrix[0]?.length ?? 0 }, (_, i) => {
    const row = take(i, statements).map(bind);
    return matrix.map((factors) => bind(weightedSum(factors, row)));
  });
  for (const [i, factors] of matrix.entries()) {
    const columns = matrix.map((_, j) => halves.flatMap((half) => half[j] ?? []));
    const row = columns.map((column) => weightedSum(factors, column));
    statements.push(...give(i, row));
  }
  return statements;
}

/** The sum of values times their factors. */
function weightedSum(factors: readonly number[], values: readonly Expression[]): Expression {
  const terms = factors
    .map((factor, i) => ({ factor, value: values[i] ?? w.f32x4(0) }))
    .filter(({ factor }) => factor !== 0)
    // One that needs no product begins.
    .sort((a, b) => Number(b.factor === 1) - Number(a.factor === 1));
  return (
    terms.reduce<Expression | undefined>((sum, { factor, value }) => {
      if (sum === undefined) return factor === 1 ? value : mul(value, w.f32x4(factor));
      if (factor === 1) return add(sum, value);
      return factor === -1 ? sub(sum, value) : w.multiplyAdd(value, w.f32x4(factor), sum);
    }, undefined) ?? w.f32x4(0)
  );
}

/** A row of points, whose matrices are so many bytes `apart`. */
function storePoints(
  values: readonly Expression[],
  { to, row, apart }: { readonly to: Local; readonly row: number; readonly apart: number },
): Statement[] {
  return values.map((value, column) =>
    s.store('v128', { address: to, offset: (row * values.length + column) * apart }, value),
  );
}

/** The row of each tile, from columns whose lane i is of tile i. */
function rowsOfTiles(
  columns: readonly Expression[],
  statements: Statement[],
): readonly Expression[] {
  const [left, right] = columns;
  if (columns.length === 4 || !(left && right)) return transposed(columns, statements);
  return [0, 1, 2, 3].map((i) => w.shuffle32(left, right, [i, i + 4, i, i + 4]));
}

interface TileTarget {
  /** The first element of the tile. */
  readonly place: Local;
  readonly isWholeRow: Local;
  readonly isWholeColumn: Local;
  readonly row: number;
}

/** A row of a tile, as far as it is in the result. */
function storeRow(
  { filter, height, width }: WinogradPlan,
  { place, isWholeRow, isWholeColumn, row }: TileTarget,
  value: Expression,
): Statement[] {
  const step = filter.output.length;
  const offset = row * width * FLOAT;
  const stored =
    step === 4
      ? s.store('v128', { address: place, offset }, value)
      : s.store('i64', { address: place, offset }, w.lane('i64x2', value, 0));
  const left = width % step;
  const inColumns =
    left === 0
      ? [stored]
      : s.when(isWholeColumn, [stored], storeColumns({ y: place, offset, count: left }, value));
  const isAlways = height % step === 0 || row < height % step;
  return isAlways ? inColumns : s.when(isWholeRow, inColumns);
}
