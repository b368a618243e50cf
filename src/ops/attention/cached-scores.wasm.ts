import { FLOAT, plus, times } from '../../wasm/address.ts';
import type { Expression, Local } from '../../wasm/expression.ts';
import * as w from '../../wasm/expression.ts';
import { mul } from '../../wasm/floats.ts';
import { binder, increment, loop, set, type Statement, store } from '../../wasm/statement.ts';
import type { ElementAccess } from '../lowering/element-access.ts';
import { acrossLanes } from '../linear/product-rows.wasm.ts';
import type { CachedShape } from './attention-shape.ts';

/** Rows of queries that share what is read of the cache. */
export type Rows = 1 | 2 | 4;

/** A call, and how its elements lie in memory. */
export interface CachedCall extends CachedShape {
  readonly query: ElementAccess;
  readonly cache: ElementAccess;
  readonly output: ElementAccess;
  /** True if elements of the cache are integers, which have scales. */
  readonly isInteger: boolean;
}

export interface Tile {
  readonly width: Rows;
  readonly shape: CachedCall;
  /** The first key that some row sees, and how many there are up to the last one. */
  readonly begin: Local;
  readonly count: Local;
  /** Those of the keys, one after the other, each for all rows. */
  readonly weights: Local;
}

interface ScorePlaces {
  readonly q: Local;
  readonly k: Local;
  readonly keyScale: Local;
}

/** Scores of the keys that count, in vectors of four. */
export function writeScores(
  { width, shape, begin, count, weights }: Tile,
  { q, k, keyScale }: ScorePlaces,
): Statement[] {
  const { size, cache, isInteger } = shape;
  const rowBytes = size * cache.byteLength;
  const [key, scale, to, index] = w.locals(4);
  const scores = w.local('v128');
  const step = 4 / width;
  const places = { q, key, scale, scores };
  const move = (keys: number): Statement[] => [
    increment(key, keys * rowBytes),
    ...(isInteger ? [increment(scale, keys * FLOAT)] : []),
    increment(to, keys * width * FLOAT),
  ];
  const alone: Statement[] = [
    ...dots({ width, keys: 1, shape }, places),
    ...Array.from({ length: width }, (_, r) =>
      store('f32', { address: to, offset: r * FLOAT }, w.lane('f32x4', scores, r)),
    ),
    ...move(1),
  ];
  return [
    set(key, plus(k, times(begin, rowBytes))),
    set(scale, plus(keyScale, times(begin, FLOAT))),
    set(to, weights),
    ...loop({ index, end: w.apply('i32.div_u', count, w.i32(step)) }, [
      ...dots({ width, keys: step, shape }, places),
      store('v128', { address: to }, scores),
      ...move(step),
    ]),
    ...(step === 1 ? [] : loop({ index, end: w.apply('i32.and', count, w.i32(step - 1)) }, alone)),
  ];
}

interface DotPlaces {
  readonly q: Local;
  readonly key: Local;
  readonly scale: Local;
  readonly scores: Local;
}

interface DotSizes {
  readonly width: Rows;
  readonly keys: number;
  readonly shape: CachedCall;
}

/** Quads of a row in a round of the loop. */
const UNROLL = 4;

/** Scores of some rows and some keys, by key, in the lanes of a vector. */
function dots({ width, keys, shape }: DotSizes, { q, key, scale, scores }: DotPlaces): Statement[] {
  const { size, query, cache, isInteger } = shape;
  const sums = w.locals(width * keys, 'v128');
  const [from, of, index] = w.locals(3);
  const quad = (at: number, count: number): Statement[] => {
    const statements: Statement[] = [];
    const bind = binder(statements);
    const rows = Array.from({ length: width }, (_, r) =>
      bind(query.read(from, (r * size + at) * query.byteLength, count)),
    );
    for (let j = 0; j < keys; j++) {
      const value = bind(readFloats(shape, of, { column: j * size + at, count }));
      for (const [r, row] of rows.entries()) {
        const sum = sums[j * width + r];
        if (sum) statements.push(set(sum, w.multiplyAdd(row, value, sum)));
      }
    }
    return statements;
  };
  const quads = (count: number): Statement[] =>
    Array.from({ length: count }, (_, i) => quad(i * 4, 4)).flat();
  const whole = Math.floor(size / 4);
  const products = mul(acrossLanes(sums), w.f32x4(shape.scale));
  return [
    set(from, q),
    set(of, key),
    ...sums.map((sum) => set(sum, w.f32x4(0))),
    ...loop({ index, end: w.i32(Math.floor(whole / UNROLL)) }, [
      ...quads(UNROLL),
      increment(from, UNROLL * 4 * query.byteLength),
      increment(of, UNROLL * 4 * cache.byteLength),
    ]),
    ...quads(whole % UNROLL),
    ...(size % 4 === 0 ? [] : quad((whole % UNROLL) * 4, size % 4)),
    set(scores, isInteger ? mul(products, keyScales(scale, width, keys)) : products),
  ];
}

/** The scale of each lane's key. */
function keyScales(scale: Local, width: Rows, keys: number): Expression {
  if (keys === 1) return w.load('splat32', scale);
  if (keys === 4) return w.load('v128', scale);
  const pair = w.load('zero64', scale);
  return width === 2 ? w.shuffle32(pair, pair, [0, 0, 1, 1]) : pair;
}

/** Up to four elements of the cache, as floats without their scale. */
export function readFloats(
  { cache, isInteger }: CachedCall,
  address: Expression,
  { column, count }: { readonly column: number; readonly count: number },
): Expression {
  const value = cache.read(address, column * cache.byteLength, count);
  return isInteger ? w.apply('f32x4.convert_i32x4_s', value) : value;
}
