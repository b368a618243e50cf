import { internalError } from '../core/errors.ts';
import type { DeviceRange } from './device.ts';

/** Throws for a range that is not whole words inside its buffer: callers have verified theirs. */
export function checkRange(where: string, { buffer, byteOffset, byteLength }: DeviceRange): void {
  const isWhole = byteOffset % 4 === 0 && byteLength % 4 === 0;
  if (!isWhole || !(byteOffset >= 0 && byteLength >= 0)) {
    throw internalError(`${where} bytes ${byteOffset} + ${byteLength}: not whole words`);
  }
  const end = Math.ceil(buffer.byteLength / 4) * 4;
  if (byteOffset + byteLength > end) {
    throw internalError(
      `${where} bytes ${byteOffset} + ${byteLength} of a buffer of ${buffer.byteLength} bytes`,
    );
  }
}
