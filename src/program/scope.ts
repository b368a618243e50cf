import { requireCount, requireKind } from '../core/check-options.ts';
import { disposeState } from './eager/pending.ts';
import { passOn, recordArrays } from './eager/scope.ts';
import type { ArrayState } from './array-state.ts';
import { NdArray } from './nd-array.ts';
import { leavesOf } from './data/tree.ts';
import { isValueLeaf } from './values.ts';

/**
 * Does some work, and disposes of all eager arrays that it made, but of those that it returns: an array, or objects
 * and arrays of such.
 *
 * ```ts
 * weights = scope(() => weights.sub(gradient.mul(rate)));
 * ```
 */
export function scope<const R>(work: () => R): R {
  requireCount('scope', arguments, 1);
  requireKind('scope', 'function', ['work that is', work]);
  const { result, made } = recordArrays(work);
  const kept = new Set<ArrayState>();
  for (const { leaf } of result === undefined ? [] : leavesOf(result, isValueLeaf)) {
    if (leaf instanceof NdArray) kept.add(leaf.state);
  }
  passOn([...kept].filter((state) => made.has(state)));
  for (const state of made) if (!kept.has(state)) disposeState(state);
  return result;
}
