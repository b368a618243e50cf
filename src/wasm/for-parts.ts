import { lesser } from './address.ts';
import { apply, type Expression, i32, type Local, local } from './expression.ts';
import { increment, loop, set, type Statement, when } from './statement.ts';

/** Items in parts of `width`, of which the last may have fewer. */
interface Parts {
  /** Of a part. */
  readonly index: Local;
  /** Parts from `first` up to `end`; default: all of them. */
  readonly first?: Expression;
  readonly end?: Expression;
  /** Of items. */
  readonly count: number;
  readonly width: number;
}

/** The widths of {@link forParts}. */
export const partWidths = (count: number, width: number): number[] =>
  [width, count % width].filter((items) => items > 0 && items <= count);

/** A loop over whole parts, and behind it the body of the last part where that has fewer items. */
export function forParts(
  { index, count, width, first = i32(0), end = i32(Math.ceil(count / width)) }: Parts,
  body: (width: number) => readonly Statement[],
): Statement[] {
  const whole = Math.floor(count / width);
  const last = count - whole * width;
  return [
    ...(whole === 0 ? [] : loop({ index, begin: first, end: lesser(end, whole) }, body(width))),
    ...(last === 0
      ? []
      : when(apply('i32.gt_s', end, i32(whole)), [set(index, i32(whole)), ...body(last)])),
  ];
}

interface Elements {
  readonly count: number;
  /** Moved along, and by how many bytes an element. */
  readonly pointers: readonly Local[];
  readonly steps: readonly number[];
}

/** Four elements a round, then those that are left. */
export function byFours(
  { count, pointers, steps }: Elements,
  body: (count: number) => readonly Statement[],
): Statement[] {
  const index = local('i32');
  return [
    ...loop({ index, end: i32(Math.floor(count / 4)) }, [
      ...body(4),
      ...pointers.map((pointer, i) => increment(pointer, 4 * (steps[i] ?? 0))),
    ]),
    ...(count % 4 === 0 ? [] : body(count % 4)),
  ];
}
