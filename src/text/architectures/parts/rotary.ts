import { call } from '../../../compiler/ir/build.ts';
import type { Expr } from '../../../compiler/ir/expr.ts';
import type { Dim } from '../../../core/dim.ts';
import type { RotaryConfig } from '../decoder-config.ts';
import { rotaryFrequencies } from './rotary-scaling.ts';
import { add, floats, integer, lastSlice, mul, reshape, sub } from './tensor-calls.ts';

/** Cosines and sines, (b, s, 1, pairs). */
export interface Angles {
  readonly cosines: Expr;
  readonly sines: Expr;
}

export interface AngleTables {
  readonly rotary: RotaryConfig;
  /** Divide the frequency of each pair. */
  readonly factors: ArrayLike<number> | undefined;
  /** Positions that the tables reach. */
  readonly contextLength: number;
}

/** Positions in a row of the fine table. */
const STEP = 256;

/**
 * The angles of positions, int32 (b, s). A position is a multiple of 256 and a rest, each with a table of its
 * own: their angles add. The tables are small however long the context, and as exact as float32 is, where a
 * large angle in float32 has lost the digits of its turns.
 */
export function anglesOf(positions: Expr, { rotary, factors, contextLength }: AngleTables): Angles {
  const frequencies = rotaryFrequencies(rotary, factors);
  const pairs = frequencies.length;
  const table = (rows: number, of: (row: number, frequency: number) => number): Expr =>
    floats(
      [rows, pairs],
      Float32Array.from({ length: rows * pairs }, (_, i) =>
        of(Math.floor(i / pairs), frequencies[i % pairs] ?? 0),
      ),
    );
  const { magnitude } = rotary;
  const multiples = Math.ceil(contextLength / STEP);
  const coarse = call('div', [positions, integer(STEP)]);
  const fine = call('bitwise_and', [positions, integer(STEP - 1)]);
  const at = (rows: Expr, indices: Expr): Expr =>
    reshape(call('gather', [rows, indices], { axis: 0 }), ['b', 's', 1, pairs]);
  const turn = (row: number, frequency: number): number => row * STEP * frequency;
  const cosA = at(
    table(multiples, (row, f) => magnitude * Math.cos(turn(row, f))),
    coarse,
  );
  const sinA = at(
    table(multiples, (row, f) => magnitude * Math.sin(turn(row, f))),
    coarse,
  );
  const cosB = at(
    table(STEP, (row, f) => Math.cos(row * f)),
    fine,
  );
  const sinB = at(
    table(STEP, (row, f) => Math.sin(row * f)),
    fine,
  );
  return {
    cosines: sub(mul(cosA, cosB), mul(sinA, sinB)),
    sines: add(mul(sinA, cosB), mul(cosA, sinB)),
  };
}

/** Turns the pairs of heads, (b, s, heads, headWidth): element i with i + pairs. What is behind them stays. */
export function rotate(
  x: Expr,
  { cosines, sines }: Angles,
  { heads, headWidth, turned }: { heads: number; headWidth: number; turned: number },
): Expr {
  const shape: readonly Dim[] = ['b', 's', heads, headWidth];
  const half = turned / 2;
  const first = lastSlice(x, shape, [0, half]);
  const second = lastSlice(x, shape, [half, turned]);
  const rest = turned === headWidth ? [] : [lastSlice(x, shape, [turned, headWidth])];
  const parts = [
    sub(mul(first, cosines), mul(second, sines)),
    add(mul(second, cosines), mul(first, sines)),
    ...rest,
  ];
  return call('concat', parts, { axis: 3 });
}
