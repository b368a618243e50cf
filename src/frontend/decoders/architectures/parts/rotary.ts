import { call } from '../../../../compiler/ir/build.ts';
import type { Expr } from '../../../../compiler/ir/expr.ts';
import type { Dim } from '../../../../core/dims/dim.ts';
import type { RotaryConfig } from '../decoder-config.ts';
import { rotaryFrequencies } from './rotary-scaling.ts';
import { add, floats, integer, lastSlice, mul, reshape, sub } from './tensor-calls.ts';

/** Cosines and sines that rotate the elements of a head, (b, s, 1, headWidth). */
export interface Angles {
  /** Cosines; 1 for elements that are not turned. */
  readonly cosines: Expr;
  /** Sines, below 0 for the first of a pair; 0 for elements that are not turned. */
  readonly sines: Expr;
}

interface AngleTables {
  readonly rotary: RotaryConfig;
  readonly headWidth: number;
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
export function anglesOf(positions: Expr, tables: AngleTables): Angles {
  const { rotary, contextLength, headWidth } = tables;
  const rows = Math.ceil(contextLength / STEP);
  const coarse = turnTables(tables, { rows, step: STEP, magnitude: rotary.magnitude });
  const fine = turnTables(tables, { rows: STEP, step: 1, magnitude: 1 });
  const multiple = call('div', [positions, integer(STEP)]);
  const rest = call('bitwise_and', [positions, integer(STEP - 1)]);
  const at = (table: Expr, indices: Expr): Expr =>
    reshape(call('gather', [table, indices], { axis: 0 }), ['b', 's', 1, headWidth]);
  const [cosA, sinA] = [at(coarse.cosines, multiple), at(coarse.sines, multiple)];
  const [cosB, sinB] = [at(fine.cosines, rest), at(fine.sines, rest)];
  // The signs of sines cancel in their product.
  return {
    cosines: sub(mul(cosA, cosB), mul(sinA, sinB)),
    sines: add(mul(sinA, cosB), mul(cosA, sinB)),
  };
}

interface TableSizes {
  readonly rows: number;
  /** Positions from one row to the next. */
  readonly step: number;
  readonly magnitude: number;
}

/** {@link Angles} of every few positions, (rows, headWidth). */
function turnTables(
  { rotary, factors, headWidth }: AngleTables,
  { rows, step, magnitude }: TableSizes,
): Angles {
  const frequencies = rotaryFrequencies(rotary, factors);
  const half = frequencies.length;
  const cosines = new Float32Array(rows * headWidth).fill(1);
  const sines = new Float32Array(rows * headWidth);
  for (let row = 0; row < rows; row++) {
    for (const [pair, frequency] of frequencies.entries()) {
      const angle = row * step * frequency;
      const at = row * headWidth + pair;
      cosines[at] = magnitude * Math.cos(angle);
      cosines[at + half] = magnitude * Math.cos(angle);
      sines[at] = -magnitude * Math.sin(angle);
      sines[at + half] = magnitude * Math.sin(angle);
    }
  }
  return { cosines: floats([rows, headWidth], cosines), sines: floats([rows, headWidth], sines) };
}

/**
 * Turns heads, (b, s, heads, headWidth), of which the first `width` elements make pairs: element i with i + width / 2.
 * Written so that all of it is one kernel.
 */
export function rotate(
  x: Expr,
  { cosines, sines }: Angles,
  { heads, headWidth, width }: { heads: number; headWidth: number; width: number },
): Expr {
  const shape: readonly Dim[] = ['b', 's', heads, headWidth];
  const half = width / 2;
  const rest = width === headWidth ? [] : [lastSlice(x, shape, [width, headWidth])];
  const others = [lastSlice(x, shape, [half, width]), lastSlice(x, shape, [0, half]), ...rest];
  return add(mul(x, cosines), mul(call('concat', others, { axis: 3 }), sines));
}
