import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { FormatError } from '../../../core/errors.ts';
import type { FileWindow } from '../../../core/bytes/file-window.ts';

/** The files that open where an ONNX model does. */
export const EXPECTED_MODEL = 'an ONNX model, a GGUF file or a Weft executable';

/** A tag and a length take no more. */
const MOST_HEADER_BYTES = 15;

/** The number of a message's field, and its place in a file. */
export interface Field {
  readonly number: number;
  readonly begin: number;
  readonly end: number;
}

/**
 * The fields of a message, of which only tags and lengths are read. Throws FormatError for bytes that are no message.
 */
export async function* fieldsOf(
  file: FileWindow,
  begin: number,
  end: number,
): AsyncGenerator<Field> {
  for (let at = begin; at < end; ) {
    const reader = new BinaryReader(await file.bytes(at, Math.min(end, at + MOST_HEADER_BYTES)));
    let field: Field;
    try {
      const [number, wire] = reader.tag();
      if (wire === WireType.LengthDelimited) {
        const byteLength = reader.uint32();
        field = { number, begin: at + reader.pos, end: at + reader.pos + byteLength };
      } else {
        const start = reader.pos;
        reader.skip(wire, number);
        field = { number, begin: at + start, end: at + reader.pos };
      }
    } catch (error) {
      throw notOnnx(at, error instanceof Error ? error.message : String(error));
    }
    if (field.end > end) throw notOnnx(at, `a field up to byte ${field.end}`);
    yield field;
    at = field.end;
  }
}

function notOnnx(at: number, got: string): FormatError {
  return new FormatError({
    where: `the file, byte ${at}`,
    got,
    expected: EXPECTED_MODEL,
    remedy: 'The file may be truncated or of another format.',
  });
}
