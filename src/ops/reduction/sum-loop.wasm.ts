import type { Expression, Local } from '../../wasm/expression.ts';
import * as w from '../../wasm/expression.ts';
import { binder, loop, set, type Statement } from '../../wasm/statement.ts';

/** Sums of products of so many steps, and less, are added up in float32 alone. */
export const LONG_PRODUCT = 4096;

export interface SumLoop {
  readonly index: Local;
  readonly rounds: number;
  /** Up to so many rounds are added up in float32 alone. */
  readonly longest: number;
  /** Rounds of a block. */
  readonly block?: number;
  /** Vectors of sums in float32, to which a round adds. */
  readonly sums: readonly Local[];
  /** Together what the sums have come to, for the first of them: default the sums themselves. */
  readonly joined?: readonly Expression[];
}

/**
 * A loop that adds to sums of float32. In a long one these are added to sums in double precision, block by block:
 * so errors grow with the rounds of a block alone.
 */
export function sumLoop(
  { index, rounds, longest, block = 32, sums, joined = sums }: SumLoop,
  round: readonly Statement[],
): Statement[] {
  if (rounds <= longest) return loop({ index, end: w.i32(rounds) }, round);
  const totals = joined.map(() => w.locals(2, 'v128'));
  const [first, zero] = [w.local('i32'), w.f32x4(0)];
  const ends: Statement[] = [];
  const bind = binder(ends);
  for (const [i, value] of joined.map(bind).entries()) {
    for (const [half, total] of (totals[i] ?? []).entries()) {
      const pair = half === 0 ? value : w.shuffle32(value, value, [2, 3, 2, 3]);
      ends.push(set(total, w.apply('f64x2.add', total, w.apply('f64x2.promote_low_f32x4', pair))));
    }
  }
  return [
    ...totals.flat().map((total) => set(total, zero)),
    ...loop({ index: first, end: w.i32(Math.floor(rounds / block)) }, [
      ...loop({ index, end: w.i32(block) }, round),
      ...ends,
      ...sums.map((sum) => set(sum, zero)),
    ]),
    ...loop({ index, end: w.i32(rounds % block) }, round),
    ...(rounds % block ? ends : []),
    ...sums.map((sum) => set(sum, zero)),
    ...totals.flatMap(([low, high], i) => {
      const [lowest, highest] = [low, high].map((half) => w.apply('f32x4.demote_f64x2_zero', half));
      const sum = sums[i];
      if (sum === undefined || lowest === undefined || highest === undefined) return [];
      return [set(sum, w.shuffle32(lowest, highest, [0, 1, 4, 5]))];
    }),
  ];
}
