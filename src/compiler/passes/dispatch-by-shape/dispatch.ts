import { CORE_OPERATORS } from '../../../ops/tables/core-operators.ts';
import type { Operators } from '../../../ops/operators.ts';
import { UnsupportedError, UsageError } from '../../../core/errors.ts';
import { isElaborated } from '../../inference/elaborate.ts';
import { inferModule } from '../../inference/infer-module.ts';
import type { FunctionExpr, Module } from '../../ir/expr.ts';
import { nearestName } from '../../../core/nearest-name.ts';
import { mapFunctions, postOrder } from '../../ir/walk/visit.ts';
import { nameUnknownParams } from '../dims/bind-dims.ts';
import { Cloner } from './cloner.ts';
import {
  type AxisDispatcher,
  type DimRange,
  formatInterval,
  type Interval,
  type IntervalDispatcher,
  type SizeInterval,
  type WrittenInterval,
} from './interval.ts';
import { type DispatchAxis, leavesOf, planBuckets, rangeOf, type Ranges } from './plan-buckets.ts';
import { MAX_DIMENSION } from '../../../core/dims/dim.ts';
import { chosenIntervals, ruleIntervals } from './dispatchers.ts';

/** Intervals by the name of a parameter and the index of its axis. */
export type FunctionDispatch = Readonly<Record<string, Readonly<Record<number, AxisDispatcher>>>>;

/** How much larger a program became. */
export interface DispatchReport {
  readonly name: string;
  readonly clones: number;
  /** Combinations of intervals that no sizes can be in. */
  readonly pruned: number;
  /** Nodes of the functions of the module; a clone shares constants with the others. */
  readonly expressionsBefore: number;
  /** The same with the clones. */
  readonly expressionsAfter: number;
}

/** A module whose function has clones, and how much larger it is. */
interface Dispatched {
  readonly module: Module;
  /** How much larger the module became. */
  readonly report: DispatchReport;
}

/**
 * Makes a clone of a function for each combination of intervals of sizes, and puts in its place a
 * function that looks at the sizes and calls the clone. In a clone, a dimension with a single size is
 * that number, and of others it is known how large they can be. Constants are shared. A size outside
 * of all intervals is refused when the function is called, or with `otherwise: 'generic'` runs the function as
 * it is.
 *
 * ```ts
 * dispatch(module, 'main', { data: { 2: [[1, 2], [2, 4], [4, 8]] } });
 * dispatch(module, 'main', { data: { 2: logarithmic({ min: 1, max: 64, base: 2 }) } });
 * ```
 *
 * Throws UsageError for what the function does not have, and for intervals that make no sense.
 */
export function dispatch(
  module: Module,
  name: string,
  by: FunctionDispatch,
  { operators = CORE_OPERATORS }: { readonly operators?: Operators } = {},
): Dispatched {
  const named = mapFunctions(module, nameUnknownParams);
  const isTyped = isElaborated(named) && named.functions.get(name)?.resultType !== undefined;
  const typed = isTyped ? named : inferModule(named, { operators });
  const fn = typed.functions.get(name);
  if (fn === undefined) {
    throw unknownName('dispatch', { what: 'function', name, known: [...typed.functions.keys()] });
  }
  if ((fn.typeParams?.length ?? 0) > 0) {
    const got = 'a function with type parameters';
    throw new UnsupportedError({ where: `dispatch of ${name}`, got, expected: 'one without' });
  }
  const known = rangesOf(fn);
  const axes = axesOf(name, { fn, by, known });
  const tree = planBuckets(axes, known);
  if (tree === undefined) {
    throw new UsageError({
      where: `dispatch of ${name}`,
      got: 'intervals that no sizes can be in',
      expected: 'intervals within the bounds of the dimensions',
    });
  }
  const cloner = new Cloner(typed, { name, fn, operators });
  const body = cloner.select(tree);
  const functions = new Map<string, FunctionExpr>();
  for (const [key, other] of typed.functions) {
    functions.set(key, key === name ? { ...fn, body, attributes: guarded(fn, axes) } : other);
  }
  for (const [key, clone] of cloner.clones) functions.set(key, clone);
  const combinations = axes.reduce((count, axis) => count * clonesOf(axis).size, 1);
  const clones = new Set(leavesOf(tree).map(({ clone }) => clone)).size;
  const result = { ...typed, functions };
  return {
    module: result,
    report: {
      name,
      clones,
      pruned: combinations - clones,
      expressionsBefore: countExpressions(typed),
      expressionsAfter: countExpressions(result),
    },
  };
}

function clonesOf({ intervals }: DispatchAxis): ReadonlySet<number> {
  return new Set(intervals.flatMap(({ clone }) => clone ?? []));
}

function countExpressions({ functions }: Module): number {
  let count = 0;
  for (const fn of functions.values()) count += postOrder(fn).length;
  return count;
}

function rangesOf({ attributes }: FunctionExpr): Ranges {
  return new Map(
    Object.entries(attributes.bounds ?? {}).map(([symbol, [min, max]]) => [symbol, { min, max }]),
  );
}

interface AxisOptions {
  readonly fn: FunctionExpr;
  readonly by: FunctionDispatch;
  readonly known: Ranges;
}

function axesOf(name: string, { fn, by, known }: AxisOptions): DispatchAxis[] {
  const axes: DispatchAxis[] = [];
  const where = `dispatch of ${name}`;
  requireObject(by, { where, what: '', expected: 'axes by the names of parameters' });
  for (const [paramName, dispatchers] of Object.entries(by)) {
    const param = fn.params.find((candidate) => candidate.name === paramName);
    if (param === undefined) {
      const names = fn.params.map((candidate) => candidate.name);
      throw unknownName(where, { what: 'parameter', name: paramName, known: names });
    }
    const what = ` for parameter ${paramName}`;
    requireObject(dispatchers, { where, what, expected: 'intervals by axis' });
    for (const [key, dispatcher] of Object.entries(dispatchers)) {
      const axis = Number(key);
      const dim = param.type?.kind === 'tensor' ? param.type.shape[axis] : undefined;
      if (dim === undefined) {
        const got = `axis ${key} of parameter ${paramName}`;
        throw new UsageError({ where, got, expected: 'an axis of a parameter that is a tensor' });
      }
      const place = `${where}, axis ${key} of ${paramName}`;
      const intervals = intervalsOf(dispatcher, rangeOf(dim, known), place);
      axes.push({ param, axis, dim, intervals });
    }
  }
  if (axes.length > 0) return axes;
  throw new UsageError({ where, got: 'no axis', expected: 'at least one' });
}

/** The description of a dispatch may come as data from elsewhere. */
function requireObject(
  value: unknown,
  { where, what, expected }: { where: string; what: string; expected: string },
): void {
  if (typeof value === 'object' && value !== null) return;
  throw new UsageError({ where, got: `${JSON.stringify(value)}${what}`, expected });
}

function unknownName(
  where: string,
  { what, name, known }: { what: string; name: string; known: readonly string[] },
): UsageError {
  const remedy = nearestName(name, known);
  return new UsageError({
    where,
    got: `the ${what} ${name}`,
    expected: `one of ${known.join(', ')}`,
    ...(remedy === undefined ? {} : { remedy }),
  });
}

/** The attributes of the function that selects: no size may be outside of all intervals. */
function guarded(fn: FunctionExpr, axes: readonly DispatchAxis[]): FunctionExpr['attributes'] {
  const bounds = new Map(Object.entries(fn.attributes.bounds ?? {}));
  for (const { dim, intervals } of axes) {
    const [first, last] = [intervals[0]?.interval, intervals.at(-1)?.interval];
    if (typeof dim !== 'string' || first === undefined || last === undefined) continue;
    if (!isClosed(intervals)) continue;
    const [min, max] = bounds.get(dim) ?? [0, Infinity];
    bounds.set(dim, [Math.max(min, first[0]), Math.min(max, last[1] - 1)]);
  }
  if (bounds.size === 0) return fn.attributes;
  return { ...fn.attributes, bounds: Object.fromEntries(bounds) };
}

/**
 * The intervals of a dispatcher. Throws UsageError for those that are empty or overlap, and for what
 * is no dispatcher: it may come as data from elsewhere.
 */
export function intervalsOf(
  dispatcher: AxisDispatcher,
  known: DimRange,
  where: string,
): readonly SizeInterval[] {
  if (!isOpenEnded(dispatcher)) return sizeIntervals(dispatcher, known, where);
  if (dispatcher.otherwise !== 'generic') {
    const got = `otherwise ${JSON.stringify(dispatcher.otherwise)}`;
    throw new UsageError({ where, got, expected: '"generic", or nothing' });
  }
  return withGeneric(sizeIntervals(dispatcher.intervals, known, where));
}

/** Returns true if sizes outside of all intervals are refused. */
function isClosed(intervals: readonly SizeInterval[]): boolean {
  return intervals.every(({ clone }) => clone !== undefined);
}

function sizeIntervals(
  dispatcher: IntervalDispatcher,
  known: DimRange,
  where: string,
): readonly SizeInterval[] {
  const intervals = listOf(dispatcher, known, where);
  if (intervals.length === 0) {
    throw new UsageError({ where, got: 'no intervals', expected: 'at least one' });
  }
  let end = 0;
  for (const { interval } of intervals) {
    const [from, below] = interval;
    if (from < end) {
      const got = `${formatInterval(interval)} after sizes below ${end}`;
      throw new UsageError({ where, got, expected: 'intervals in ascending order, from 0 up' });
    }
    end = below;
  }
  return intervals;
}

/** With the sizes that no interval has, which run the function as it is. */
function withGeneric(intervals: readonly SizeInterval[]): SizeInterval[] {
  const all: SizeInterval[] = [];
  let end = 0;
  const fill = (below: number): void => {
    const interval = [end, below] as const;
    if (end < below) all.push({ interval, clone: undefined, facts: interval });
  };
  for (const one of intervals) {
    fill(one.interval[0]);
    all.push(one);
    end = one.interval[1];
  }
  fill(MAX_DIMENSION + 1);
  return all;
}

function listOf(
  dispatcher: IntervalDispatcher,
  known: DimRange,
  where: string,
): readonly SizeInterval[] {
  const plain = (written: readonly WrittenInterval[]): SizeInterval[] =>
    written.map((one, clone) => {
      const interval = intervalOf(one, where);
      return { interval, clone, facts: interval };
    });
  if (typeof dispatcher === 'function') return plain(dispatcher(known));
  if (isList(dispatcher)) return plain(dispatcher);
  if (dispatcher?.kind === 'chosen') return chosenIntervals(dispatcher, known);
  const intervals = ruleIntervals(dispatcher, known);
  if (intervals !== undefined) return plain(intervals);
  const expected = 'a list of [from, below], or a rule of kind uniform or logarithmic';
  throw new UsageError({ where, got: formatArgument(dispatcher), expected });
}

/** Throws UsageError for what is no interval. */
function intervalOf(written: WrittenInterval, where: string): Interval {
  const [from, below] = isPair(written) ? written : endsOf(written);
  // JSON has no Infinity.
  const isOpen = below === Infinity || below === null;
  if (isSize(from) && isOpen) return [from, MAX_DIMENSION + 1];
  if (isSize(from) && isSize(below) && from < below) return [from, below];
  const expected =
    '[from, below] with integers, from less than below, which may be null for no end';
  throw new UsageError({ where, got: formatArgument(written), expected });
}

function endsOf(written: unknown): readonly unknown[] {
  if (typeof written !== 'object' || written === null || !('min' in written)) return [];
  const max = 'max' in written ? written.max : undefined;
  return [written.min, max === undefined ? Infinity : Number(max) + 1];
}

function isList(dispatcher: IntervalDispatcher): dispatcher is readonly WrittenInterval[] {
  return Array.isArray(dispatcher);
}

function isOpenEnded(
  dispatcher: AxisDispatcher,
): dispatcher is Extract<AxisDispatcher, { readonly otherwise: unknown }> {
  return typeof dispatcher === 'object' && dispatcher !== null && 'otherwise' in dispatcher;
}

function isPair(interval: unknown): interval is readonly unknown[] {
  return Array.isArray(interval) && interval.length === 2;
}

function isSize(size: unknown): size is number {
  return Number.isSafeInteger(size);
}

function formatArgument(value: unknown): string {
  if (isPair(value)) return `[${value.map(String).join(', ')}]`;
  return JSON.stringify(value) ?? String(value);
}
