import { UsageError } from '../core/errors.ts';
import type { Dispatch } from '../worker/protocol/dispatch-sizes.ts';

/**
 * Throws UsageError for functions among intervals, which cannot be sent to a worker. All else is for
 * the compiler to check. Loaded only when a session is asked to dispatch by shape.
 */
export function checkDispatch(dispatch: Dispatch): void {
  const stack: { readonly value: unknown; readonly path: string }[] = [
    { value: dispatch, path: 'dispatch' },
  ];
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    const { value, path } = top;
    if (typeof value === 'function') {
      throw new UsageError({
        where: path,
        got: 'a function',
        expected: 'intervals [from, below], or { kind: "uniform" } or { kind: "logarithmic" }',
        remedy: 'Compile the model to a .weft file with functions, or list the intervals.',
      });
    }
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, inner] of Object.entries(value)) {
      stack.push({ value: inner, path: `${path}.${key}` });
    }
  }
}
