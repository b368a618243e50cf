import { OutOfMemoryError } from '../errors.ts';

/** The result of `make`. Throws OutOfMemoryError where the engine has no memory for it. */
export function allocate<T>(byteLength: number, make: () => T): T {
  try {
    return make();
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new OutOfMemoryError(
      {
        where: 'memory of this thread',
        got: `no room for ${byteLength} bytes`,
        expected: 'as many',
        remedy: 'Use smaller inputs, or dispose of unused tensors.',
      },
      { cause, details: { byteLength } },
    );
  }
}
