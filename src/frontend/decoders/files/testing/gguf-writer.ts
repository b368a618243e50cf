import { ByteWriter } from '../../../../core/bytes/byte-writer.ts';
import { ggufTypeCode } from '../gguf.ts';

/** A number that is a float32 even where it is an integer: readers other than Weft's want the type of each key. */
interface WrittenFloat {
  readonly float32: number;
}

/** A value of the metadata. Integers become uint32 and other numbers float32. */
export type WrittenValue =
  | number
  | WrittenFloat
  | boolean
  | string
  | readonly string[]
  | Float32Array
  | Int32Array
  | Uint8Array;

/** A tensor to be written: its bytes in the layout of its type. */
export interface WrittenTensor {
  readonly name: string;
  /** Row-major. */
  readonly shape: readonly number[];
  readonly type: string;
  readonly bytes: Uint8Array;
}

export interface WrittenGguf {
  readonly metadata?: Readonly<Record<string, WrittenValue>>;
  readonly tensors?: readonly WrittenTensor[];
  readonly version?: number;
}

const [UINT8, UINT32, INT32, FLOAT32, BOOL, STRING, ARRAY] = [0, 4, 5, 6, 7, 8, 9] as const;

/** A GGUF file, for tests. */
export function writeGguf({ metadata = {}, tensors = [], version = 3 }: WrittenGguf): Uint8Array {
  const out = new ByteWriter().bytes(new TextEncoder().encode('GGUF')).u32(version);
  const values = Object.entries(metadata);
  out.i64(tensors.length).i64(values.length);
  for (const [key, value] of values) writeValue(writeString(out, key), value);
  const alignment = Number(metadata['general.alignment'] ?? 32);
  let offset = 0;
  for (const { name, shape, type, bytes } of tensors) {
    writeString(out, name).u32(shape.length);
    for (const size of shape.toReversed()) out.i64(size);
    out.u32(ggufTypeCode(type)).i64(offset);
    offset += Math.ceil(bytes.length / alignment) * alignment;
  }
  out.align(alignment);
  for (const { bytes } of tensors) out.bytes(bytes).align(alignment);
  return out.finish();
}

function writeString(out: ByteWriter, text: string): ByteWriter {
  const bytes = new TextEncoder().encode(text);
  return out.i64(bytes.length).bytes(bytes);
}

function writeValue(out: ByteWriter, value: WrittenValue): void {
  if (typeof value === 'boolean') out.u32(BOOL).u8(Number(value));
  else if (typeof value === 'string') writeString(out.u32(STRING), value);
  else if (typeof value === 'number') {
    if (Number.isInteger(value)) out.u32(UINT32).u32(value);
    else writeFloat(out, value);
  } else if ('float32' in value) writeFloat(out, value.float32);
  else if (value instanceof Uint8Array || ArrayBuffer.isView(value)) {
    const type =
      value instanceof Float32Array ? FLOAT32 : value instanceof Int32Array ? INT32 : UINT8;
    out.u32(ARRAY).u32(type).i64(value.length);
    out.bytes(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  } else {
    out.u32(ARRAY).u32(STRING).i64(value.length);
    for (const text of value) writeString(out, text);
  }
}

function writeFloat(out: ByteWriter, value: number): void {
  out.u32(FLOAT32).bytes(new Uint8Array(Float32Array.of(value).buffer));
}
