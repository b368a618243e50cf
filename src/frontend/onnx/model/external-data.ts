import { elementCount } from '../../../core/tensor/shape.ts';
import {
  type ByteRange,
  type ExternalDataReader,
  type ExternalRange,
  externalTensors,
  rangeOf,
} from '../protobuf/external-data.ts';
import { bitPackedByteLength, dtypeFromOnnx } from '../protobuf/read-tensor.ts';
import { readMessage } from '../protobuf/read-message.ts';

/** Where the tensors of a model lie that are in other files, each place once. Throws FormatError. */
export function externalRanges(model: Uint8Array): readonly ExternalRange[] {
  const ranges = new Map<string, ExternalRange>();
  for (const tensor of externalTensors(readMessage('ModelProto', model))) {
    const dtype = dtypeFromOnnx(tensor.dataType, `tensor "${tensor.name ?? ''}"`);
    const range = rangeOf(tensor, bitPackedByteLength(dtype, elementCount(tensor.dims)));
    ranges.set(keyOf(range.path, range), range);
  }
  return [...ranges.values()];
}

/**
 * Reads all tensors of an ONNX model that lie in other files, one after the other, for `importOnnx`,
 * which does not wait. `read` gets a path relative to the model's folder, without `..`.
 *
 * Rejects with FormatError for a model that cannot be read, and with what `read` rejects with.
 */
export async function loadExternalData(
  model: Uint8Array,
  read: (path: string, range: ByteRange) => Promise<Uint8Array>,
): Promise<ExternalDataReader> {
  return loadRanges(externalRanges(model), read);
}

/** {@link loadExternalData} of the parts that a model of any format needs. */
export async function loadRanges(
  ranges: readonly ExternalRange[],
  read: (path: string, range: ByteRange) => Promise<Uint8Array>,
): Promise<ExternalDataReader> {
  const pieces: (ExternalRange & { readonly bytes: Uint8Array })[] = [];
  for (const range of ranges) {
    if (range.byteLength > 0) pieces.push({ ...range, bytes: await read(range.path, range) });
  }
  return (path, range) => {
    let found: Uint8Array = new Uint8Array();
    for (const piece of pieces) {
      const { bytes } = piece;
      const begin = range.byteOffset - piece.byteOffset;
      if (piece.path !== path || begin < 0 || begin >= bytes.byteLength) continue;
      const part = bytes.subarray(begin, begin + range.byteLength);
      if (part.byteLength > found.byteLength) found = part;
    }
    return found;
  };
}

function keyOf(path: string, { byteOffset, byteLength }: ByteRange): string {
  return JSON.stringify([path, byteOffset, byteLength]);
}
