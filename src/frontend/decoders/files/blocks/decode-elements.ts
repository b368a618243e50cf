import { UnsupportedError } from '../../../../core/errors.ts';
import { float16ToNumber } from '../../../../core/tensor/float16.ts';
import type { BlockFormat } from './block-format.ts';
import { blockFormat, READABLE_TYPES } from './block-formats.ts';
import { eachBlock, requireByteLength } from './each-block.ts';

/** The elements of a stored tensor, and how many they are. */
interface Elements {
  /** The type of the elements, one of {@link READABLE_TYPES}. */
  readonly type: string;
  readonly count: number;
  readonly where: string;
}

/**
 * Stored elements as float32, bit for bit as ggml's `dequantize_row_*` give them. Throws UnsupportedError for a
 * type that Weft does not read, FormatError for too few or too many bytes.
 */
export function decodeElements(
  bytes: Uint8Array,
  { type, count, where }: Elements,
): Float32Array<ArrayBuffer> {
  const format = blockFormat(type);
  if (format !== undefined) {
    requireByteLength(bytes, (count / format.elements) * format.bytes, { type, where });
    return decodeBlocks(bytes, format, count);
  }
  requireByteLength(bytes, count * (type === 'F32' ? 4 : 2), { type, where });
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const values = new Float32Array(count);
  switch (type) {
    case 'F32':
      // By their bits, which keeps those of NaN.
      new Uint8Array(values.buffer).set(bytes);
      return values;
    case 'F16':
      for (let i = 0; i < count; i++) values[i] = float16ToNumber(view.getUint16(2 * i, true));
      return values;
    case 'BF16': {
      const words = new Uint32Array(values.buffer);
      for (let i = 0; i < count; i++) words[i] = view.getUint16(2 * i, true) << 16;
      return values;
    }
    default:
      throw new UnsupportedError({
        where,
        got: `elements of ${type}`,
        expected: `one of ${READABLE_TYPES.join(', ')}`,
      });
  }
}

function decodeBlocks(
  bytes: Uint8Array,
  format: BlockFormat,
  count: number,
): Float32Array<ArrayBuffer> {
  const { elements, group, zero } = format;
  const values = new Float32Array(count);
  eachBlock(bytes, format, ({ codes, scales, minimums }, index) => {
    for (let i = 0; i < elements; i++) {
      const at = Math.floor(i / group);
      const product = ((codes[i] ?? 0) - zero) * (scales[at] ?? 0);
      // Products are exact, and a double holds their difference exactly: it is rounded once.
      values[index * elements + i] = format.hasMinimums ? product - (minimums[at] ?? 0) : product;
    }
  });
  return values;
}
