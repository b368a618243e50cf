import { FormatError } from './errors.ts';

/** Tags with which the fields of an ONNX ModelProto begin: fields 1 to 8, 14, 20 and 25. */
const MODEL_TAGS = [0x08, 0x12, 0x1a, 0x22, 0x28, 0x32, 0x3a, 0x42, 0x72, 0xa2, 0xca];

/** Throws FormatError for a file, neither executable nor model, by its first bytes. */
export function checkLooksLikeOnnx(head: Uint8Array, where: string): void {
  const [first] = head;
  if (first !== undefined && MODEL_TAGS.includes(first)) return;
  const hex = Array.from(head.subarray(0, 8), (byte) => byte.toString(16).padStart(2, '0'));
  throw new FormatError({
    where,
    got: first === undefined ? 'no bytes at all' : `bytes that begin with ${hex.join(' ')}`,
    expected: 'a .weft executable or an .onnx model',
    remedy:
      first === 0x3c
        ? 'This is markup: the server answered with a page. Check the address.'
        : undefined,
  });
}
