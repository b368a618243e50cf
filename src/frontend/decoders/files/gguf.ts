import type { BytesNeeded, HeadOptions } from './bytes-needed.ts';
import { GgufMetadata, type GgufValue, readGgufValue } from './gguf-metadata.ts';
import { type HeadReader, readHead } from './head-reader.ts';
import type { StoredTensor } from './stored-tensor.ts';

/** All of a GGUF file but the elements of its tensors. */
export interface GgufHead {
  /** Tells it from {@link BytesNeeded}. */
  readonly kind: 'gguf';
  /** The version of the format: 2 or 3. */
  readonly version: number;
  readonly metadata: GgufMetadata;
  /** Tensors by name, in the order of the file. */
  readonly tensors: ReadonlyMap<string, StoredTensor>;
  /** Where the elements begin, in bytes from the start of the file. */
  readonly dataOffset: number;
}

const MAGIC = 0x46554747;
const VERSIONS = [2, 3];
const MAX_RANK = 4;
const MAX_ALIGNMENT = 2 ** 16;

/**
 * Reads the head of a GGUF file, of which the first bytes are enough:
 * https://github.com/ggml-org/ggml/blob/master/docs/gguf.md. Little-endian files of versions 2 and 3.
 *
 * Gives {@link BytesNeeded} where the head is longer than the bytes. Throws FormatError for a file that is
 * no GGUF or is damaged. Of a model in several files it is the head of this one: `readGgufParts` joins them.
 */
export function readGguf(bytes: Uint8Array, options: HeadOptions = {}): GgufHead | BytesNeeded {
  return readHead(bytes, { format: 'GGUF file', ...options }, readFile);
}

function readFile(reader: HeadReader): GgufHead {
  const version = readVersion(reader);
  // A name, its rank, no dimensions, its type and its offset; a key, and a value of one byte.
  const tensorCount = reader.count('tensors', 24, 32);
  const valueCount = reader.count('metadata values', 13, 32);
  const values = new Map<string, GgufValue>();
  for (let i = 0; i < valueCount; i++) {
    const key = reader.string(`key ${i}`);
    if (values.has(key)) throw reader.error({ got: `${key} twice`, expected: 'each key once' });
    values.set(key, readGgufValue(reader, key));
  }
  const metadata = new GgufMetadata(values, reader.where);
  const alignment = alignmentOf(metadata, reader);
  const entries = new Map<string, StoredTensor>();
  for (let i = 0; i < tensorCount; i++) {
    const tensor = readTensor(reader, alignment);
    if (entries.has(tensor.name)) {
      throw reader.error({ got: `tensor ${tensor.name} twice`, expected: 'each name once' });
    }
    entries.set(tensor.name, tensor);
  }
  const dataOffset = Math.ceil(reader.position / alignment) * alignment;
  const tensors = new Map<string, StoredTensor>();
  for (const [name, tensor] of entries) tensors.set(name, placed(reader, tensor, dataOffset));
  return { kind: 'gguf', version, metadata, tensors, dataOffset };
}

function readVersion(reader: HeadReader): number {
  const magic = reader.u32('magic number');
  if (magic !== MAGIC) {
    throw reader.error({
      got: `a file that begins with 0x${magic.toString(16)}`,
      expected: `GGUF, 0x${MAGIC.toString(16)}`,
    });
  }
  const version = reader.u32('version');
  if (VERSIONS.includes(version)) return version;
  throw reader.error({
    got: `version ${version}`,
    expected: '2 or 3, little-endian',
    remedy: 'Convert the model again with a current llama.cpp.',
  });
}

function alignmentOf(metadata: GgufMetadata, reader: HeadReader): number {
  const alignment = metadata.number('general.alignment') ?? 32;
  const isPowerOfTwo = Number.isInteger(Math.log2(alignment));
  if (isPowerOfTwo && alignment >= 1 && alignment <= MAX_ALIGNMENT) return alignment;
  throw reader.error({
    got: `general.alignment ${alignment}`,
    expected: `a power of two up to ${MAX_ALIGNMENT}`,
  });
}

/** An entry of the table; its offset still counts from where the elements begin. */
function readTensor(reader: HeadReader, alignment: number): StoredTensor {
  const name = reader.string('name of a tensor');
  const rank = reader.u32(`rank of ${name}`);
  if (rank > MAX_RANK) {
    throw reader.error({ got: `rank ${rank} of ${name}`, expected: `at most ${MAX_RANK}` });
  }
  // The file has the innermost dimension first.
  const inward = Array.from({ length: rank }, () => reader.size(`dimension of ${name}`));
  const code = reader.u32(`type of ${name}`);
  const byteOffset = reader.size(`offset of ${name}`);
  if (byteOffset % alignment !== 0) {
    throw reader.error({
      got: `offset ${byteOffset} of ${name}`,
      expected: `a multiple of the alignment, ${alignment}`,
    });
  }
  const type = ggufType(code);
  const shape = inward.toReversed();
  if (type === undefined) {
    return { name, shape, type: `type ${code}`, byteOffset, byteLength: undefined };
  }
  const [row = 1] = inward;
  if (row % type.elements !== 0) {
    throw reader.error({
      got: `rows of ${row} elements in ${name}`,
      expected: `a multiple of ${type.elements}, the block of ${type.name}`,
    });
  }
  const count = shape.reduce((product, size) => product * size, 1);
  const byteLength = (count / type.elements) * type.bytes;
  return { name, shape, type: type.name, byteOffset, byteLength };
}

/** The tensor with its offset from the start of the file, in which it has to lie. */
function placed(reader: HeadReader, tensor: StoredTensor, dataOffset: number): StoredTensor {
  const byteOffset = dataOffset + tensor.byteOffset;
  const end = byteOffset + (tensor.byteLength ?? 0);
  const most = reader.fileByteLength ?? Number.MAX_SAFE_INTEGER;
  if (end <= most) return { ...tensor, byteOffset };
  throw reader.error({
    got: `tensor ${tensor.name} up to byte ${end}`,
    expected: `at most ${most}, where the file ends`,
    remedy: 'The file is truncated or damaged; fetch or write it again.',
  });
}

/** How elements of a type lie in a GGUF file: so many in a block of so many bytes. */
interface GgufType {
  readonly name: string;
  /** Elements of a block; 1 for numbers of their own. */
  readonly elements: number;
  readonly bytes: number;
}

/** `ggml_type` by its number: https://github.com/ggml-org/ggml/blob/master/include/ggml.h. */
const GGUF_TYPES: ReadonlyMap<number, GgufType> = /* @__PURE__ */ new Map(
  (
    [
      [0, 'F32', 1, 4],
      [1, 'F16', 1, 2],
      [2, 'Q4_0', 32, 18],
      [3, 'Q4_1', 32, 20],
      [6, 'Q5_0', 32, 22],
      [7, 'Q5_1', 32, 24],
      [8, 'Q8_0', 32, 34],
      [9, 'Q8_1', 32, 36],
      [10, 'Q2_K', 256, 84],
      [11, 'Q3_K', 256, 110],
      [12, 'Q4_K', 256, 144],
      [13, 'Q5_K', 256, 176],
      [14, 'Q6_K', 256, 210],
      [15, 'Q8_K', 256, 292],
      [16, 'IQ2_XXS', 256, 66],
      [17, 'IQ2_XS', 256, 74],
      [18, 'IQ3_XXS', 256, 98],
      [19, 'IQ1_S', 256, 50],
      [20, 'IQ4_NL', 32, 18],
      [21, 'IQ3_S', 256, 110],
      [22, 'IQ2_S', 256, 82],
      [23, 'IQ4_XS', 256, 136],
      [24, 'I8', 1, 1],
      [25, 'I16', 1, 2],
      [26, 'I32', 1, 4],
      [27, 'I64', 1, 8],
      [28, 'F64', 1, 8],
      [29, 'IQ1_M', 256, 56],
      [30, 'BF16', 1, 2],
      [34, 'TQ1_0', 256, 54],
      [35, 'TQ2_0', 256, 66],
      [39, 'MXFP4', 32, 17],
    ] as const
  ).map(([code, name, elements, bytes]) => [code, { name, elements, bytes }]),
);

/** The type of a number in the table of tensors; undefined for one that this version does not know. */
function ggufType(code: number): GgufType | undefined {
  return GGUF_TYPES.get(code);
}

export function ggufTypeCode(name: string): number {
  for (const [code, type] of GGUF_TYPES) if (type.name === name) return code;
  throw new Error(`internal: no GGUF type ${name}`);
}
