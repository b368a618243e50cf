import { requireKind } from '../../core/check-options.ts';
import { ShapeError } from '../../core/errors.ts';
import { callFunction, projection, tuple, vjp as vjpOf } from '../../compiler/ir/build.ts';
import { formatType, sameType } from '../../compiler/ir/type.ts';
import { callSite, placeOf, siteOr, within } from '../call-site.ts';
import { bundle, type Frame } from '../trace.ts';
import type { Like, ResultOf } from '../data/value-types.ts';
import { unbundle, valueOf, type WrittenLeaf, writtenLike } from '../values.ts';
import { hasDerivatives, writeFunction } from './write-function.ts';
import { type AnyFunction, mapArguments } from './function-arguments.ts';
import type { ArgumentsLike } from './grad.ts';
import { writeOrRun } from './transform.ts';

/**
 * The result of a function, and what a cotangent of the result gives to the arguments: `[value, cotangents]`, a list
 * with one for each argument, by reverse mode. Integers and bools get `null`.
 *
 * ```ts
 * const [y, [dx, dw]] = vjp((x, w) => x.matmul(w), [x, w], dy);
 * ```
 *
 * Throws ShapeError for a cotangent of another type than the result.
 */
export function vjp<A extends readonly unknown[], R>(
  fn: (...args: A) => R,
  primals: ArgumentsLike<NoInfer<A>>,
  cotangent: NoInfer<Like<R>>,
): [ResultOf<R>, { [K in keyof A]: ResultOf<A[K]> }] {
  return within(vjp, () => {
    requireKind(placeOf('vjp'), 'function', ['the first argument', fn]);
    requireKind(placeOf('vjp'), 'list', ['the arguments', primals]);
    return writeOrRun(vjp, {
      name: 'vjp',
      args: [...primals, cotangent],
      write: (frame, all) => reverse(frame, fn, { args: all.slice(0, -1), cotangent: all.at(-1) }),
    });
  }, ['vjp', arguments, 3]) as [ResultOf<R>, { [K in keyof A]: ResultOf<A[K]> }];
}

function reverse(
  frame: Frame,
  call: AnyFunction,
  { args, cotangent }: { readonly args: readonly unknown[]; readonly cotangent: unknown },
): unknown {
  const { fn, given, returned, leaves } = writeFunction(frame, { call, args }, (leaf) =>
    hasDerivatives(leaf) ? leaf.type : undefined,
  );
  const seeds = seedsOf(frame, cotangent, leaves);
  const made = callFunction(
    vjpOf(fn),
    [...given.map(({ expr }) => expr), bundle(seeds)],
    callSite(),
  );
  const value = unbundle(frame, projection(made, 0), { tree: returned, leaves });
  let next = 0;
  const cotangents = mapArguments(args, (_, path) => {
    const leaf = given[next];
    if (leaf === undefined || leaf.path !== path) return null;
    return valueOf(frame, projection(projection(made, 1), next++), leaf);
  });
  return [value, cotangents];
}

function seedsOf(frame: Frame, cotangent: unknown, leaves: readonly WrittenLeaf[]) {
  const seeds = writtenLike(frame, cotangent, leaves);
  return leaves.map((leaf, index) => {
    if (!hasDerivatives(leaf)) return tuple([]);
    const seed = seeds[index];
    if (seed !== undefined && sameType(seed.type, leaf.type)) return seed.expr;
    throw new ShapeError({
      where: siteOr('vjp'),
      got: `${seed === undefined ? 'nothing' : formatType(seed.type)} as the cotangent of ${leaf.path || 'the result'}`,
      expected: formatType(leaf.type),
    });
  });
}
