import { UsageError } from '../../core/errors.ts';
import type { Value } from '../../runtime/values/value.ts';

/** The reason why no page takes a result: too many values, or this one. */
export type RefusedValue = 'values' | Extract<Value, object>;

/** Why a page cannot take a result. A file of its own, loaded when there is such. */
export function refusedResult(value: RefusedValue, maxCount: number, maxDepth: number): UsageError {
  if (value !== 'values') {
    const isOpaque = value.kind === 'opaque';
    return new UsageError({
      where: 'run',
      got: `${isOpaque ? `the opaque value ${JSON.stringify(value.name)}` : `a ${value.kind}`} as a result`,
      expected: 'tensors, numbers, strings, shapes, functions or tuples and data of them',
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
