import { type OptionKind, requireKind } from '../core/check-options.ts';
import type { Dim } from '../core/dims/dim.ts';
import { ShapeError } from '../core/errors.ts';
import { formatType } from '../compiler/ir/type.ts';
import { apply } from './apply.ts';
import { type ArrayState, type HasState, hasState } from './array-state.ts';
import { placeOf, siteOr } from './call-site.ts';

/**
 * The part of an axis that a slice takes: one place, a range with an optional step, places in an
 * array, or all.
 */
export type Index =
  | number
  | null
  | HasState
  | readonly []
  | readonly [begin: number]
  | readonly [begin: number, end: Dim]
  | readonly [begin: number, end: Dim, step: number];

const isPlace = (value: unknown): boolean => value === undefined || Number.isSafeInteger(value);
const INDEX: OptionKind = [
  'an integer, null, [begin, end, step] or an array of integers',
  (value) =>
    value === null ||
    Number.isSafeInteger(value) ||
    (Array.isArray(value) && value.length <= 3 && isPlace(value[0]) && isPlace(value[2])) ||
    hasState(value),
];

/** The largest place that an end may have: the axis ends where it ends. */
const END = 2 ** 31 - 1;

/** The calls that take a part of an array. Throws ShapeError for more indices than axes. */
export function sliceCalls(state: ArrayState, indices: readonly Index[]): ArrayState {
  const rank = state.type.shape.length;
  if (indices.length > rank) {
    throw new ShapeError({
      where: siteOr('slice'),
      got: `${indices.length} indices for ${formatType(state.type)}`,
      expected: rank === 1 ? 'at most 1' : `at most ${rank}`,
    });
  }
  for (const [axis, index] of indices.entries()) {
    const size = Number(state.type.shape[axis]);
    const isOutside = typeof index === 'number' && (index < -size || index >= size);
    const kind: OptionKind = isOutside ? [`one from ${-size} to ${size - 1}`, () => false] : INDEX;
    requireKind(placeOf('slice'), kind, [`index ${axis} that is`, index]);
  }
  let result = cut(state, indices);
  // From the last axis on, so that the numbers of those before it stay.
  for (const [axis, index] of [...indices.entries()].toReversed()) {
    if (hasState(index)) result = apply('gather', [result, index], { axis });
  }
  const dropped = new Set(
    indices.flatMap((index, axis) => (typeof index === 'number' ? [axis] : [])),
  );
  if (dropped.size === 0) return result;
  return dropAxes(result, indices, dropped);
}

/** One place is a range of one, until its axis is dropped. */
function cut(state: ArrayState, indices: readonly Index[]): ArrayState {
  const ranges = indices.map((index) => rangeOf(index));
  if (ranges.every(({ begin, end, step }) => begin === 0 && end === END && step === 1))
    return state;
  const whole = state.type.shape.slice(indices.length).map(() => ({ begin: 0, end: END, step: 1 }));
  const all = [...ranges, ...whole];
  return apply('slice', [state], {
    starts: all.map(({ begin }) => begin),
    ends: all.map(({ end }) => end),
    steps: all.map(({ step }) => step),
  });
}

function rangeOf(index: Index): {
  readonly begin: number;
  readonly end: Dim;
  readonly step: number;
} {
  if (typeof index === 'number') {
    return { begin: index, end: index === -1 ? END : index + 1, step: 1 };
  }
  if (index === null || hasState(index)) return { begin: 0, end: END, step: 1 };
  const [begin = 0, end = END, step = 1] = index;
  return { begin, end, step };
}

function dropAxes(
  state: ArrayState,
  indices: readonly Index[],
  dropped: ReadonlySet<number>,
): ArrayState {
  // An array of indices puts its own axes in the place of one.
  const shape: Dim[] = [];
  let from = 0;
  for (let axis = 0; from < state.type.shape.length; axis++) {
    const index = indices[axis];
    const count = index !== undefined && hasState(index) ? index.state.type.shape.length : 1;
    if (!dropped.has(axis)) shape.push(...state.type.shape.slice(from, from + count));
    from += count;
  }
  return apply('reshape', [state], { shape });
}
