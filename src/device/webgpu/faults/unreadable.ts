import { DeviceError, OutOfMemoryError, WeftError } from '../../../core/errors.ts';

/** The reason for which a readback, or another wait for the device, rejected, as an error of Weft's own. */
export function unreadable(cause: unknown, where: string): Error {
  if (cause instanceof WeftError) return cause;
  const message = cause instanceof Error ? cause.message : String(cause);
  const complaint = { where, got: `an error (${message})`, expected: 'the results' };
  // The mapped range, or the copy of it.
  if (!(cause instanceof RangeError)) return new DeviceError(complaint, { cause });
  const remedy = 'Read less at once, or dispose of unused tensors.';
  return new OutOfMemoryError({ ...complaint, remedy }, { cause });
}
