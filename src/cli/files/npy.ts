import { type DType, dtypeInfo } from '../../core/tensor/dtype.ts';
import { FormatError } from '../../core/errors.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { elementCount, formatShape, type Shape } from '../../core/tensor/shape.ts';

/** numpy's names of the dtypes, little-endian. */
const DESCRIPTORS: Partial<Readonly<Record<DType, string>>> = {
  float32: '<f4',
  float64: '<f8',
  float16: '<f2',
  int8: '|i1',
  uint8: '|u1',
  int16: '<i2',
  uint16: '<u2',
  int32: '<i4',
  uint32: '<u4',
  int64: '<i8',
  uint64: '<u8',
  bool: '|b1',
};

/** Of a dtype that numpy has no name for: the integers, or the bits as numpy stores foreign types. */
function descriptorOf(dtype: DType): string {
  const { category, byteLength } = dtypeInfo(dtype);
  const letter = category === 'float' ? 'V' : category === 'int' ? 'i' : 'u';
  return DESCRIPTORS[dtype] ?? `|${letter}${byteLength}`;
}

const MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59];

/**
 * Reads a `.npy` file, versions 1 to 3, as numpy's format specification describes it. Throws
 * FormatError; arrays in Fortran order and big-endian ones are refused.
 */
export function readNpy(bytes: Uint8Array, where: string): HostTensor {
  if (bytes.byteLength < 12 || !MAGIC.every((byte, i) => bytes[i] === byte)) {
    throw new FormatError({ where, got: 'other first bytes', expected: 'those of a .npy file' });
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isLong = (bytes[6] ?? 0) >= 2;
  const begin = isLong ? 12 : 10;
  const headerLength = isLong ? view.getUint32(8, true) : view.getUint16(8, true);
  const header = new TextDecoder().decode(bytes.subarray(begin, begin + headerLength));
  const { dtype, shape } = parseHeader(header, where);
  const data = bytes.slice(begin + headerLength);
  const expected = elementCount(shape) * dtypeInfo(dtype).byteLength;
  if (data.byteLength !== expected) {
    throw new FormatError({
      where,
      got: `${data.byteLength} bytes of data`,
      expected: `${expected} for ${dtype} ${formatShape(shape)}`,
    });
  }
  return HostTensor.fromBytes(dtype, shape, data);
}

function parseHeader(header: string, where: string): { dtype: DType; shape: number[] } {
  const descr = /'descr':\s*'([^']*)'/.exec(header)?.[1];
  const order = /'fortran_order':\s*(True|False)/.exec(header)?.[1];
  const dims = /'shape':\s*\(([\d\s,]*)\)/.exec(header)?.[1];
  if (descr === undefined || order === undefined || dims === undefined) {
    throw new FormatError({
      where,
      got: `the header ${JSON.stringify(header.trim().slice(0, 120))}`,
      expected: 'one with descr, fortran_order and shape',
      remedy: 'Structured arrays cannot be read.',
    });
  }
  const shape = dims.split(',').flatMap((dim) => (dim.trim() === '' ? [] : [Number(dim)]));
  if (order === 'True' && shape.length > 1) {
    throw new FormatError({
      where,
      got: 'an array in Fortran order',
      expected: 'C order',
      remedy: 'Save numpy.ascontiguousarray(x).',
    });
  }
  const entry = Object.entries(DESCRIPTORS).find(([, name]) => name.slice(1) === descr.slice(1));
  if (entry === undefined || descr.startsWith('>')) {
    throw new FormatError({
      where,
      got: `elements of type ${descr}`,
      expected: `one of ${Object.values(DESCRIPTORS).join(' ')}`,
      remedy: 'Convert with x.astype.',
    });
  }
  return { dtype: entry[0] as DType, shape };
}

/** A `.npy` file of version 1. */
export function writeNpy({ dtype, shape, data }: NpyArray): Uint8Array {
  const dims = shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(', ')})`;
  const text = `{'descr': '${descriptorOf(dtype)}', 'fortran_order': False, 'shape': ${dims}, }`;
  // The data begins at a multiple of 64 and the header ends with a line feed.
  const padding = 63 - ((10 + text.length) % 64);
  const header = new TextEncoder().encode(`${text}${' '.repeat(padding)}\n`);
  const bytes = new Uint8Array(10 + header.byteLength + data.byteLength);
  bytes.set([...MAGIC, 1, 0, header.byteLength & 0xff, header.byteLength >> 8]);
  bytes.set(header, 10);
  const body = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  bytes.set(body, 10 + header.byteLength);
  return bytes;
}

interface NpyArray {
  readonly dtype: DType;
  readonly shape: Shape;
  readonly data: ArrayBufferView;
}
