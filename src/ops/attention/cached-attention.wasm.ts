import { FLOAT, lesser, plus, times } from '../../wasm/address.ts';
import type { Expression, Local } from '../../wasm/expression.ts';
import * as w from '../../wasm/expression.ts';
import { add, mul, sub } from '../../wasm/floats.ts';
import { forParts } from '../../wasm/for-parts.ts';
import {
  binder,
  increment,
  loop,
  set,
  type Statement,
  store,
  type WasmFunction,
} from '../../wasm/statement.ts';
import * as s from '../../wasm/statement.ts';
import { elementAccess } from '../lowering/element-access.ts';
import { expOfNegative, INTRINSICS } from '../formula/wasm/wasm-intrinsics.ts';
import type { WasmLowering } from '../lowering/wasm-lowering.ts';
import { cachedShape } from './attention-shape.ts';
import {
  type CachedCall,
  readFloats,
  type Rows,
  type Tile,
  writeScores,
} from './cached-scores.wasm.ts';

/** Vectors of columns that are summed up in registers. */
const VECTORS: Readonly<Record<Rows, number>> = { 1: 8, 2: 4, 4: 2 };

interface ValuePlaces {
  readonly v: Local;
  readonly valueScale: Local;
  readonly y: Local;
  /** The factor of the weights of each lane's row. */
  readonly share: Local;
}

/** Sums of the values of the keys that count, by the weights. */
function sumValues(tile: Tile, places: ValuePlaces): Statement[] {
  const { shape, width } = tile;
  const [index, most] = [w.local('i32'), VECTORS[width] * 4];
  return forParts({ index, count: shape.valueSize, width: most }, (columns) =>
    sumColumns(tile, places, { index, columns }),
  );
}

interface Columns {
  /** The first column of the part. */
  readonly index: Local;
  readonly columns: number;
}

function sumColumns(
  { width, shape, begin, count, weights }: Tile,
  { v, valueScale, y, share }: ValuePlaces,
  { index, columns }: Columns,
): Statement[] {
  const { valueSize, cache, output, isInteger } = shape;
  const [from, scale, weight, to, key] = w.locals(5);
  const most = VECTORS[width] * 4;
  const rowBytes = valueSize * cache.byteLength;
  const counts = Array.from({ length: Math.ceil(columns / 4) }, (_, i) =>
    Math.min(columns - i * 4, 4),
  );
  const sums = Array.from({ length: width }, () => counts.map(() => w.local('v128')));
  const round: Statement[] = [];
  const bind = binder(round);
  const factor = isInteger ? bind(w.load('splat32', scale)) : undefined;
  const factors = sums.map((_, r) => {
    const own = w.load('splat32', weight, r * FLOAT);
    return bind(factor === undefined ? own : mul(own, factor));
  });
  for (const [i, lanes] of counts.entries()) {
    const value = bind(readFloats(shape, from, { column: i * 4, count: lanes }));
    for (const [r, row] of sums.entries()) {
      const [sum, own] = [row[i], factors[r]];
      if (sum && own) round.push(set(sum, w.multiplyAdd(own, value, sum)));
    }
  }
  const written = sums.flatMap((row, r) =>
    row.flatMap((sum, i) => [
      set(sum, mul(sum, w.shuffle32(share, share, [r, r, r, r]))),
      ...output.write(to, (r * valueSize + i * 4) * output.byteLength, {
        value: sum,
        count: counts[i] ?? 4,
      }),
    ]),
  );
  return [
    set(from, plus(plus(v, times(begin, rowBytes)), times(index, most * cache.byteLength))),
    set(scale, plus(valueScale, times(begin, FLOAT))),
    set(weight, weights),
    ...sums.flat().map((sum) => set(sum, w.f32x4(0))),
    ...loop({ index: key, end: count }, [
      ...round,
      increment(from, rowBytes),
      increment(weight, width * FLOAT),
      ...(isInteger ? [increment(scale, FLOAT)] : []),
    ]),
    set(to, plus(y, times(index, most * output.byteLength))),
    ...written,
  ];
}

/** For some rows of queries that share keys: scores of the keys that count, their softmax, and sums of values. */
export const cachedAttentionWasm: WasmLowering = (given) => {
  const { inputs, output: result } = given;
  const [query, cache, output] = [inputs[0], inputs[1], result].map(
    (type) => type && elementAccess(type.dtype),
  );
  const hasFloatScales = inputs.slice(4).every((type) => type?.dtype === 'float32');
  if (!(query && cache && output && hasFloatScales)) return undefined;
  const shape = cachedShape(given);
  const own = { ...shape, query, cache, output, isInteger: inputs[1]?.dtype === 'int8' };
  const { kvHeads, batch, rows, keys, pitches, size, valueSize } = shape;
  const tiles = tilesOf(rows);
  return {
    functions: tiles.map(({ width }) => tileFunction(width, own)),
    scratch: [(keys + 1) * 4 * FLOAT],
    units: batch,
    work: batch * rows * keys * (size + valueSize),
    body({ inputs: places, output: target, scratch: [weights], units }) {
      const [queries, key, value, first, keyScale, valueScale] = places;
      if (!(queries && key && value && first && weights)) return [];
      const [index, q, k, v, y, row, begin] = w.locals(7);
      const scaleAt = (scale: Local | undefined, pitch: number): Expression =>
        scale === undefined ? w.i32(0) : plus(scale, times(index, pitch * FLOAT));
      return s.loop({ index, begin: units.first, end: units.end }, [
        s.set(q, plus(queries, times(index, rows * size * query.byteLength))),
        s.set(k, plus(key, times(index, pitches[0] * size * cache.byteLength))),
        s.set(v, plus(value, times(index, pitches[1] * valueSize * cache.byteLength))),
        s.set(y, plus(target, times(index, rows * valueSize * output.byteLength))),
        s.set(
          begin,
          w.load(
            'i32',
            plus(first, times(w.apply('i32.div_u', index, w.i32(Math.max(kvHeads, 1))), 4)),
          ),
        ),
        ...tiles.flatMap(({ width, from, to }) =>
          s.loop({ index: row, begin: w.i32(from), end: w.i32(to), step: width }, [
            s.call(`rows${width}`, [
              plus(q, times(row, size * query.byteLength)),
              k,
              v,
              scaleAt(keyScale, pitches[0]),
              scaleAt(valueScale, pitches[1]),
              weights,
              plus(y, times(row, valueSize * output.byteLength)),
              row,
              begin,
            ]),
          ]),
        ),
      ]);
    },
  };
};

interface RowTile {
  readonly width: Rows;
  readonly from: number;
  readonly to: number;
}

/** Rows in fours, and what is left in two and one. */
function tilesOf(rows: number): readonly RowTile[] {
  const whole = rows - (rows % 4);
  const pairs = rows - (rows % 2);
  const tiles: readonly RowTile[] = [
    { width: 4, from: 0, to: whole },
    { width: 2, from: whole, to: pairs },
    { width: 1, from: pairs, to: rows },
  ];
  return tiles.filter(({ from, to }) => from < to);
}

/** `rows<width>(q, k, v, keyScale, valueScale, weights, y, row, first)`. */
function tileFunction(width: Rows, shape: CachedCall): WasmFunction {
  const [q, k, v, keyScale, valueScale, weights, y, row, first] = w.locals(9);
  const [begin, count] = w.locals(2);
  const [begins, ends] = w.locals(2, 'v128');
  const share = w.local('v128');
  const tile = { width, shape, begin, count, weights };
  return {
    name: `rows${width}`,
    params: [q, k, v, keyScale, valueScale, weights, y, row, first],
    body: [
      ...findBounds(tile, { row, first, begins, ends }),
      ...writeScores(tile, { q, k, keyScale }),
      ...toWeights(tile, { begins, ends, share }),
      ...sumValues(tile, { v, valueScale, y, share }),
    ],
  };
}

interface Bounds {
  readonly row: Local;
  readonly first: Local;
  /** A lane is a row, and one of the keys of a vector: the first key, and the end, for those of lane 0. */
  readonly begins: Local;
  readonly ends: Local;
}

const NOTHING = w.i32(0);
const greater = (a: Expression, b: Expression): Expression =>
  w.select(w.apply('i32.gt_s', a, b), a, b);

/** Which keys each row sees. */
function findBounds(
  { width, shape: { queries, keys, window }, begin, count }: Tile,
  { row, first, begins, ends }: Bounds,
): Statement[] {
  const statements: Statement[] = [];
  const bind = s.binder(statements);
  const all = Array.from({ length: width }, (_, r) => {
    const place = w.apply('i32.rem_u', plus(row, r), w.i32(Math.max(queries, 1)));
    const end = bind(greater(bind(plus(plus(first, place), 1)), NOTHING));
    const from = window === 0 ? NOTHING : bind(greater(bind(plus(end, -window)), NOTHING));
    return { from, end: bind(lesser(end, keys)) };
  });
  const lanes = (bounds: readonly Expression[]): Expression =>
    [0, 1, 2, 3].reduce<Expression>((vector, index) => {
      const scalar = plus(bounds[index % width] ?? NOTHING, -Math.floor(index / width));
      return w.withLane('i32x4', vector, { index, scalar });
    }, w.i32x4(0));
  const [froms, tos] = [all.map(({ from }) => from), all.map(({ end }) => end)];
  const least = froms.reduce((a, b) => bind(lesser(a, b)));
  const most = tos.reduce((a, b) => bind(greater(a, b)));
  const range = bind(w.apply('i32.sub', most, least));
  return [
    ...statements,
    s.set(begin, least),
    s.set(count, greater(range, NOTHING)),
    s.set(begins, window === 0 ? w.i32x4(0) : lanes(froms)),
    s.set(ends, lanes(tos)),
  ];
}

interface WeightPlaces {
  /** A lane is a row, and one of the keys of a vector: the first key, and the end, for those of lane 0. */
  readonly begins: Local;
  readonly ends: Local;
  /** Gets for each lane's row what its weights have to be times. */
  readonly share: Local;
}

/** Makes weights of scores, but for a factor. */
function toWeights(
  { width, shape: { softcap, window }, begin, count, weights }: Tile,
  { begins, ends, share }: WeightPlaces,
): Statement[] {
  const [largest, total, key] = w.locals(3, 'v128');
  const [at, index, vectors] = w.locals(3);
  const step = 4 / width;
  const statements: Statement[] = [];
  const bind = binder(statements);
  let score = bind(w.load('v128', at));
  if (softcap > 0) {
    const bent = bind(w.apply('f32x4.div', score, w.f32x4(softcap)));
    score = bind(mul(INTRINSICS.tanh([bent], bind), w.f32x4(softcap)));
  }
  const isBefore = w.apply('i32x4.lt_s', key, ends);
  const isSeen =
    window === 0 ? isBefore : w.apply('v128.and', isBefore, w.apply('i32x4.ge_s', key, begins));
  const seen = bind(w.apply('v128.bitselect', score, w.f32x4(-Infinity), isSeen));
  const powers: Statement[] = [];
  const bindPower = binder(powers);
  const power = bindPower(expOfNegative(bindPower(sub(w.load('v128', at), largest)), bindPower));
  const forVectors = (body: readonly Statement[]): Statement[] => [
    set(at, weights),
    ...loop({ index, end: vectors }, [...body, increment(at, 16)]),
  ];
  const isNone = w.apply('f32x4.eq', largest, w.f32x4(-Infinity));
  const hasSome = w.apply('f32x4.gt', total, w.f32x4(0));
  return [
    set(vectors, w.apply('i32.div_u', plus(count, step - 1), w.i32(step))),
    set(key, w.apply('i32x4.splat', begin)),
    set(largest, w.f32x4(-Infinity)),
    ...forVectors([
      ...statements,
      store('v128', { address: at }, seen),
      set(largest, w.apply('f32x4.pmax', largest, seen)),
      set(key, w.apply('i32x4.add', key, w.i32x4(step))),
    ]),
    ...joinRows(largest, width, (a, b) => w.apply('f32x4.pmax', a, b)),
    // A row that sees no key has weights of 0, and not what infinity less infinity gives.
    set(largest, w.apply('v128.andnot', largest, isNone)),
    set(total, w.f32x4(0)),
    ...forVectors([
      ...powers,
      store('v128', { address: at }, power),
      set(total, add(total, power)),
    ]),
    ...joinRows(total, width, add),
    set(share, w.apply('v128.and', w.apply('f32x4.div', w.f32x4(1), total), hasSome)),
  ];
}

/** Joins the lanes of each row: lane i has row i, and from the last row on they begin again. */
function joinRows(
  target: Local,
  width: Rows,
  join: (a: Expression, b: Expression) => Expression,
): Statement[] {
  const turns = {
    1: [
      [2, 3, 0, 1],
      [1, 0, 3, 2],
    ],
    2: [[2, 3, 0, 1]],
    4: [],
  }[width];
  return turns.map((lanes) => set(target, join(target, w.shuffle32(target, target, lanes))));
}
