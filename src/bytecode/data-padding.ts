import { FormatError } from '../core/errors.ts';
import { alignTensor } from './data-layout.ts';
import type { ExecutableData } from './executable.ts';

/**
 * Checks that the bytes between tensors are zero in `bytes`, which is the part of the data section
 * from `byteOffset` on. The program has been verified. Throws FormatError.
 */
export function checkDataPadding(
  program: ExecutableData,
  bytes: Uint8Array,
  byteOffset: number,
): void {
  for (const constant of program.constants) {
    if (constant.kind !== 'tensor') continue;
    const end = constant.byteOffset + constant.byteLength;
    const first = Math.max(0, end - byteOffset);
    const last = Math.min(alignTensor(end), program.dataByteLength) - byteOffset;
    if (last <= 0 || first >= bytes.length) continue;
    if (bytes.subarray(first, last).every((byte) => byte === 0)) continue;
    throw new FormatError({
      where: `data section, byte ${byteOffset + first}`,
      got: 'padding after a tensor that is not zero',
      expected: 'zeros',
    });
  }
}
