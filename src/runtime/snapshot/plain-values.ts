import type { ByteReader } from '../../core/byte-reader.ts';
import { type DType, dtypeFromCode, storageByteLength } from '../../core/dtype.ts';
import type { Shape } from '../../core/shape.ts';

/** The place of a tensor in the storage or tensor that it is a view of, in bytes. */
export interface View {
  readonly byteOffset: number;
  readonly dtype: DType;
  readonly shape: Shape;
}

export function readView(r: ByteReader, limit: number): View {
  const byteOffset = r.i64('offset of a tensor');
  const dtype = readDType(r);
  const shape = readShape(r);
  const count = shape.reduce((product, dim) => product * dim, 1);
  const end =
    byteOffset + (Number.isSafeInteger(count) ? storageByteLength(dtype, count) : limit + 1);
  if (byteOffset >= 0 && byteOffset % 4 === 0 && end <= limit) return { byteOffset, dtype, shape };
  throw r.error({ got: `a tensor up to byte ${end}`, expected: `an end within ${limit} bytes` });
}

export function readDType(r: ByteReader): DType {
  const code = r.u8('dtype');
  const dtype = dtypeFromCode(code);
  if (dtype !== undefined) return dtype;
  throw r.error({ got: `dtype code ${code}`, expected: 'the code of a dtype' });
}

export function readShape(r: ByteReader): number[] {
  return r.list('dimensions', 8, () => {
    const dim = r.i64('dimension');
    if (dim >= 0) return dim;
    throw r.error({ got: `dimension ${dim}`, expected: 'a dimension from 0 up' });
  });
}

/** Reads a text that `writeText` wrote. */
export function readText(r: ByteReader): string {
  const length = r.count('UTF-16 units', 2);
  let text = '';
  for (let i = 0; i < length; i++) text += String.fromCharCode(r.u16('UTF-16 unit'));
  return text;
}
