import type { BytesNeeded, HeadOptions } from './bytes-needed.ts';
import { type HeadReader, readHead } from './head-reader.ts';
import { isRecord, parseJson } from './json-record.ts';
import type { StoredTensor } from './stored-tensor.ts';

/** All of a safetensors file but the elements of its tensors. */
export interface SafetensorsHead {
  /** Tells it from {@link BytesNeeded}. */
  readonly kind: 'safetensors';
  /** Free-form metadata of the file, such as `format`. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Tensors by name, in the order of their places in the file. */
  readonly tensors: ReadonlyMap<string, StoredTensor>;
  /** Where the elements begin, in bytes from the start of the file. */
  readonly dataOffset: number;
}

/** The longest header that the format allows. */
const MAX_HEADER_BYTES = 100_000_000;

const NUMBER_BITS: Readonly<Record<string, number>> = {
  BOOL: 8,
  U8: 8,
  I8: 8,
  F8_E4M3: 8,
  F8_E5M2: 8,
  F8_E8M0: 8,
  I16: 16,
  U16: 16,
  F16: 16,
  BF16: 16,
  I32: 32,
  U32: 32,
  F32: 32,
  I64: 64,
  U64: 64,
  F64: 64,
};

/**
 * Reads the head of a safetensors file, of which the first bytes are enough:
 * https://huggingface.co/docs/safetensors. `name` of the options becomes that of the tensors' file.
 *
 * Gives {@link BytesNeeded} where the head is longer than the bytes. Throws FormatError for a file that is
 * no safetensors or is damaged.
 */
export function readSafetensors(
  bytes: Uint8Array,
  options: HeadOptions = {},
): SafetensorsHead | BytesNeeded {
  return readHead(bytes, { format: 'safetensors file', ...options }, (reader) =>
    readFile(reader, options.name),
  );
}

function readFile(reader: HeadReader, file: string | undefined): SafetensorsHead {
  const byteLength = reader.size('length of the header');
  if (byteLength > MAX_HEADER_BYTES) {
    throw reader.error({
      got: `a header of ${byteLength} bytes`,
      expected: `at most ${MAX_HEADER_BYTES}`,
      remedy: 'The file is damaged or no safetensors.',
    });
  }
  const header = parseJson(reader.text(byteLength, 'header'), reader.where);
  const dataOffset = reader.position;
  let metadata: Readonly<Record<string, string>> = {};
  const entries: StoredTensor[] = [];
  for (const [name, entry] of Object.entries(header)) {
    if (name === '__metadata__') metadata = stringsOf(entry, reader);
    else entries.push({ ...readEntry(reader, { name, entry, dataOffset }), file });
  }
  entries.sort((a, b) => a.byteOffset - b.byteOffset);
  requireGapless(reader, entries, dataOffset);
  const tensors = new Map(entries.map((tensor) => [tensor.name, tensor]));
  return { kind: 'safetensors', metadata, tensors, dataOffset };
}

function stringsOf(value: unknown, reader: HeadReader): Readonly<Record<string, string>> {
  const strings: Record<string, string> = {};
  for (const [key, text] of isRecord(value) ? Object.entries(value) : []) {
    if (typeof text === 'string') strings[key] = text;
  }
  if (isRecord(value) && Object.keys(strings).length === Object.keys(value).length) return strings;
  throw reader.error({ got: 'other values in __metadata__', expected: 'strings' });
}

interface Entry {
  readonly name: string;
  readonly entry: unknown;
  readonly dataOffset: number;
}

function readEntry(reader: HeadReader, { name, entry, dataOffset }: Entry): StoredTensor {
  const { dtype, shape, data_offsets: offsets } = isRecord(entry) ? entry : {};
  const [begin, end, ...more] = sizesOf(offsets) ?? [];
  const dims = sizesOf(shape);
  if (typeof dtype !== 'string' || dims === undefined || end === undefined || more.length > 0) {
    throw reader.error({
      got: `an entry of ${name} that is incomplete`,
      expected: 'dtype, shape and two data_offsets',
    });
  }
  const byteLength = end - (begin ?? 0);
  const bits = Object.hasOwn(NUMBER_BITS, dtype) ? NUMBER_BITS[dtype] : undefined;
  const expected = dims.reduce((product, size) => product * size, (bits ?? 0) / 8);
  if (byteLength < 0 || (bits !== undefined && byteLength !== expected)) {
    throw reader.error({
      got: `${byteLength} bytes of ${name}`,
      expected: `${expected} for ${dtype} (${dims.join(', ')})`,
    });
  }
  return { name, shape: dims, type: dtype, byteOffset: dataOffset + (begin ?? 0), byteLength };
}

function sizesOf(value: unknown): readonly number[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const sizes = value.filter((size) => Number.isSafeInteger(size) && size >= 0);
  return sizes.length === value.length ? sizes : undefined;
}

/** The format has tensors side by side, which leaves no place for anything else in the file. */
function requireGapless(
  reader: HeadReader,
  entries: readonly StoredTensor[],
  dataOffset: number,
): void {
  let end = dataOffset;
  for (const { name, byteOffset, byteLength = 0 } of entries) {
    if (byteOffset !== end) {
      throw reader.error({
        got: `${name} from byte ${byteOffset - dataOffset}`,
        expected: `${end - dataOffset}, where the tensor before it ends`,
      });
    }
    end += byteLength;
  }
  const { fileByteLength = end } = reader;
  if (end === fileByteLength) return;
  throw reader.error({
    got: `tensors up to byte ${end}`,
    expected: `${fileByteLength}, where the file ends`,
    remedy: 'The file is truncated or damaged; fetch or write it again.',
  });
}
