import type { Expression, Local } from '../../wasm/expression.ts';
import * as w from '../../wasm/expression.ts';
import { loop, set, type Statement } from '../../wasm/statement.ts';
import { FLOAT, plus, times } from '../../wasm/address.ts';

/**
 * A loop, and by how much a round of it moves each pointer, in bytes; of more numbers than there are
 * pointers `body` knows the others, if the loop is written out.
 */
export interface NestDim {
  readonly size: number;
  readonly steps: readonly number[];
}

/** The most copies of a body that are written out. */
const UNROLLED = 32;
/** Rounds that are written out where a loop of one would mostly move pointers. */
const ROUNDS = 8;

/** Loops, outer first; inner ones of few rounds are written out, their steps are constants of `body`. */
export function nest(
  dims: readonly NestDim[],
  bases: readonly Local[],
  body: (pointers: readonly Local[], offsets: readonly number[]) => readonly Statement[],
): Statement[] {
  const outer = [...dims];
  const count = Math.max(bases.length, ...dims.map(({ steps }) => steps.length));
  let unrolled: (readonly number[])[] = [new Array<number>(count).fill(0)];
  const unroll = ({ size, steps }: NestDim): void => {
    unrolled = Array.from({ length: size }, (_, i) =>
      unrolled.map((offsets) => offsets.map((offset, k) => offset + i * (steps[k] ?? 0))),
    ).flat();
  };
  for (let dim = outer.at(-1); dim !== undefined; dim = outer.at(-1)) {
    if (dim.size * unrolled.length > UNROLLED) break;
    unroll(dim);
    outer.pop();
  }
  const next = outer.at(-1);
  const rounds = next && partOf(next.size, ROUNDS / unrolled.length);
  if (next !== undefined && rounds !== undefined) {
    unroll({ size: rounds, steps: next.steps });
    const steps = next.steps.map((step) => step * rounds);
    outer.splice(-1, 1, { size: next.size / rounds, steps });
  }
  return loopNest(outer, bases, (pointers) =>
    unrolled.flatMap((offsets) => [...body(pointers, offsets)]),
  );
}

/** The largest divisor of a size that is a power of two and no more than `most`. */
function partOf(size: number, most: number): number | undefined {
  return [8, 4, 2].find((part) => part <= most && size % part === 0);
}

/** Loops, outer first, none of them written out. */
export function loopNest(
  [dim, ...inner]: readonly NestDim[],
  bases: readonly Local[],
  body: (pointers: readonly Local[]) => readonly Statement[],
): Statement[] {
  if (dim === undefined) return [...body(bases)];
  const index = w.local('i32');
  const moved = bases.map((base, k) => (dim.steps[k] ? w.local('i32') : base));
  return loop({ index, end: w.i32(dim.size) }, [
    ...moved.flatMap((pointer, k) => {
      const base = bases[k];
      if (base === undefined || base === pointer) return [];
      return [set(pointer, plus(base, times(index, dim.steps[k] ?? 0)))];
    }),
    ...loopNest(inner, moved, body),
  ]);
}

/**
 * The first `count` of four floats that are `stride` elements apart, from `address + offset` on; other
 * lanes are 0. Nothing behind the last of them is read.
 */
export function strided(
  address: Expression,
  offset: number,
  { stride, count = 4 }: { readonly stride: number; readonly count?: number },
): Expression {
  if (count === 4 && stride === 1) return w.load('v128', address, offset);
  if (count === 4 && stride === 2) {
    const rest = w.load('v128', address, offset + 3 * FLOAT);
    return w.shuffle32(w.load('v128', address, offset), rest, [0, 2, 5, 7]);
  }
  if (count === 0) return w.f32x4(0);
  return Array.from({ length: count - 1 }).reduce<Expression>(
    (value, _, i) =>
      w.withLane('f32x4', value, {
        index: i + 1,
        scalar: w.load('f32', address, offset + (i + 1) * stride * FLOAT),
      }),
    w.load('zero32', address, offset),
  );
}
