import { FormatError } from '../../../../core/errors.ts';
import type { BlockFormat, UnpackedBlock } from './block-format.ts';

/** Unpacks blocks one after the other, into the same memory, and shows each. */
export function eachBlock(
  bytes: Uint8Array,
  format: BlockFormat,
  show: (block: UnpackedBlock, index: number) => void,
): void {
  const { elements, group } = format;
  const block: UnpackedBlock = {
    codes: new Uint8Array(elements),
    scales: new Float32Array(elements / group),
    minimums: new Float32Array(elements / group),
  };
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const count = bytes.byteLength / format.bytes;
  for (let index = 0; index < count; index++) {
    format.unpack(view, index * format.bytes, block);
    show(block, index);
  }
}

/** Throws FormatError unless a tensor has the bytes that its type and its elements take. */
export function requireByteLength(
  bytes: Uint8Array,
  expected: number,
  { type, where }: { readonly type: string; readonly where: string },
): void {
  if (bytes.byteLength === expected) return;
  throw new FormatError({
    where,
    got: `${bytes.byteLength} bytes`,
    expected: `${expected} of ${type}`,
  });
}
