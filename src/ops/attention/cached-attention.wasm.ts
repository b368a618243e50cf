import { FLOAT, lesser, plus, times } from '../../wasm/address.ts';
import type { Expression, Local } from '../../wasm/expression.ts';
import * as w from '../../wasm/expression.ts';
import type { Statement, WasmFunction } from '../../wasm/statement.ts';
import * as s from '../../wasm/statement.ts';
import { elementAccess } from '../element-access.ts';
import type { WasmLowering } from '../wasm-lowering.ts';
import { cachedShape } from './attention-shape.ts';
import { type CachedCall, type Rows, type Tile, writeScores } from './cached-scores.wasm.ts';
import { sumValues } from './cached-values.wasm.ts';
import { toWeights } from './cached-weights.wasm.ts';

/** For some rows of queries that share keys: scores of the keys that count, their softmax, and sums of values. */
const cachedAttention: WasmLowering = (given) => {
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

export const CACHED_ATTENTION_WASM = { cached_attention: cachedAttention };
