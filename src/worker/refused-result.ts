import { UsageError } from '../core/errors.ts';
import type { Value } from '../runtime/value.ts';

/** The reason why no page takes a result: too many values, or one of this kind. */
export type RefusedKind = 'values' | Extract<Value, object>['kind'];

/** Why a page cannot take a result. A file of its own, loaded when there is such. */
export function refusedResult(kind: RefusedKind, maxCount: number, maxDepth: number): UsageError {
  if (kind !== 'values') {
    return new UsageError({
      where: 'run',
      got: `${kind === 'opaque' ? 'an opaque value' : `a ${kind}`} as a result`,
      expected: 'tensors, numbers, strings, shapes or tuples of them',
      remedy:
        'Storages stay inside the machine, opaque values on their side, and functions of a snapshot in it.',
    });
  }
  return new UsageError({
    where: 'run',
    got: 'a result of too many values',
    expected: `at most ${maxCount} values, nested at most ${maxDepth} deep`,
    remedy: 'Return one tensor, or a part of the values at a time.',
  });
}
