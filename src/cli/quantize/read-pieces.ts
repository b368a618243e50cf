import { UsageError } from '../../core/errors.ts';
import type { ExternalDataReader } from '../../frontend/index.ts';

/** Reads files that are in memory in pieces, by their names. */
export function readPieces(
  files: Readonly<Record<string, readonly Uint8Array[]>>,
): ExternalDataReader {
  return (path, { byteOffset, byteLength }) => {
    const pieces = Object.hasOwn(files, path) ? files[path] : undefined;
    if (pieces === undefined) {
      throw new UsageError({ where: path, got: 'no such file', expected: 'one beside the model' });
    }
    const bytes = new Uint8Array(byteLength);
    let begin = 0;
    for (const piece of pieces) {
      const from = Math.max(byteOffset - begin, 0);
      const to = Math.min(byteOffset + byteLength - begin, piece.byteLength);
      if (from < to) bytes.set(piece.subarray(from, to), begin + from - byteOffset);
      begin += piece.byteLength;
    }
    return bytes.subarray(0, Math.max(0, begin - byteOffset));
  };
}
