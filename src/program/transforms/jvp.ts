import { requireKind } from '../../core/check-options.ts';
import { ShapeError, UsageError } from '../../core/errors.ts';
import { callFunction, jvp as jvpOf, projection } from '../../compiler/ir/build.ts';
import { formatType, sameType } from '../../compiler/ir/type.ts';
import { exprIn } from '../array-state.ts';
import { callSite, placeOf, siteOr, within } from '../call-site.ts';
import { DataValue } from '../data/data-value.ts';
import { type Operand, stateOf } from '../operand.ts';
import type { Frame } from '../trace.ts';
import { mapTree } from '../data/tree.ts';
import type { Like, ResultOf } from '../data/value-types.ts';
import { isValueLeaf, unbundle, valueOf, type WrittenLeaf } from '../values.ts';
import { hasDerivatives, writeFunction, writtenLeaf } from './write-function.ts';
import { type AnyFunction, mapArguments } from './function-arguments.ts';
import type { ArgumentsLike } from './grad.ts';
import { writeOrRun } from './transform.ts';

/** Tangents of arguments: as these, or `null` for an argument, or a part of one, that does not move. */
type TangentsLike<T> = T extends readonly unknown[]
  ? { readonly [K in keyof T]: Like<T[K]> | PartialTangents<T[K]> | null }
  : never;

type PartialTangents<T> = T extends Operand
  ? never
  : { readonly [K in keyof T]: Like<T[K]> | PartialTangents<T[K]> | null };

/**
 * The result of a function, and how fast it changes as the arguments move along tangents: `[value, tangent]`, by forward
 * mode. Tangents have the form of the arguments; `null` stands for what does not move.
 *
 * ```ts
 * const [slope, curvature] = jvp(grad(loss), [w], [v]); // the gradient, and the Hessian times v
 * ```
 *
 * Throws ShapeError for tangents of other types than the arguments.
 */
export function jvp<A extends readonly unknown[], R>(
  fn: (...args: A) => R,
  primals: ArgumentsLike<NoInfer<A>>,
  tangents: TangentsLike<NoInfer<A>>,
): [ResultOf<R>, ResultOf<R>] {
  return within(jvp, () => {
    requireKind(placeOf('jvp'), 'function', ['the first argument', fn]);
    requireKind(placeOf('jvp'), 'list', ['the arguments', primals]);
    const isWhole = Array.isArray(tangents) && tangents.length === primals.length;
    const expected = `a list of ${primals.length}, one for each argument`;
    requireKind(placeOf('jvp'), [expected, () => isWhole], ['the tangents', tangents]);
    return writeOrRun(jvp, {
      name: 'jvp',
      args: [...primals, ...tangents],
      write: (frame, all) => {
        const [args, moves] = [all.slice(0, primals.length), all.slice(primals.length)];
        return forward(frame, fn, { args, moves });
      },
    });
  }, ['jvp', arguments, 3]) as [ResultOf<R>, ResultOf<R>];
}

/** Arguments, and tangents or cotangents beside them. */
interface Moved {
  readonly args: readonly unknown[];
  readonly moves: readonly unknown[];
}

function forward(frame: Frame, call: AnyFunction, { args, moves }: Moved): unknown {
  const tangents = new Map<string, WrittenLeaf>();
  mapArguments(args, (value, path) => {
    const move = at(moves, path);
    if (move !== undefined && move !== null) {
      tangents.set(path, tangentOf(frame, writtenLeaf(frame, value, path), move as Operand));
    }
    return undefined;
  });
  const { fn, given, returned, leaves } = writeFunction(frame, { call, args }, (leaf) =>
    tangents.has(leaf.path) ? leaf.type : undefined,
  );
  const own = given.flatMap(({ path }) => tangents.get(path)?.expr ?? []);
  const made = callFunction(jvpOf(fn), [...given.map(({ expr }) => expr), ...own], callSite());
  const value = unbundle(frame, projection(made, 0), { tree: returned, leaves });
  const moved = projection(made, 1);
  let next = 0;
  const tangent = mapTree(returned, isValueLeaf, () => {
    const index = next++;
    const leaf = leaves[index];
    if (leaf === undefined || !hasDerivatives(leaf)) return null;
    return valueOf(frame, leaves.length === 1 ? moved : projection(moved, index), leaf);
  });
  return [value, tangent];
}

/** The part of a tree at a path; null where a branch on the way is. */
function at(tree: unknown, path: string): unknown {
  return path.split('.').reduce((branch, key) => {
    if (branch === null || branch === undefined) return null;
    return (branch as Readonly<Record<string, unknown>>)[key];
  }, tree);
}

function tangentOf(frame: Frame, leaf: WrittenLeaf, given: Operand | DataValue): WrittenLeaf {
  if (!hasDerivatives(leaf)) {
    throw new UsageError({
      where: siteOr('jvp'),
      got: `a tangent of ${leaf.path}, ${formatType(leaf.type)}, which has no derivatives`,
      expected: 'null in its place',
    });
  }
  if (given instanceof DataValue || leaf.type.kind !== 'tensor') {
    return writtenLeaf(frame, given, leaf.path);
  }
  const state = stateOf(given, leaf.type.dtype);
  if (!sameType(state.type, leaf.type)) {
    throw new ShapeError({
      where: siteOr('jvp'),
      got: `${formatType(state.type)} as the tangent of ${leaf.path}`,
      expected: formatType(leaf.type),
    });
  }
  return { ...leaf, expr: exprIn(frame, state) };
}
