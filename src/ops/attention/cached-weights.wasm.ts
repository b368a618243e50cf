import type { Expression, Local } from '../../wasm/expression.ts';
import * as w from '../../wasm/expression.ts';
import { plus } from '../../wasm/address.ts';
import { add, mul, sub } from '../../wasm/floats.ts';
import { binder, increment, loop, set, type Statement, store } from '../../wasm/statement.ts';
import { expOfNegative, INTRINSICS } from '../formula/wasm-intrinsics.ts';
import type { Rows, Tile } from './cached-scores.wasm.ts';

interface WeightPlaces {
  /** A lane is a row, and one of the keys of a vector: the first key, and the end, for those of lane 0. */
  readonly begins: Local;
  readonly ends: Local;
  /** Gets for each lane's row what its weights have to be times. */
  readonly share: Local;
}

/** Makes weights of scores, but for a factor. */
export function toWeights(
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
