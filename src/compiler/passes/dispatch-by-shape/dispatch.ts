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
import type { AxisDispatcher } from './interval.ts';
import { intervalsOf, isClosed } from './intervals-of.ts';
import { type DispatchAxis, leavesOf, planBuckets, rangeOf, type Ranges } from './plan-buckets.ts';

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
