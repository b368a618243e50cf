import { elementCount } from '../../core/shape.ts';
import {
  type ByteRange,
  type ExternalDataReader,
  externalTensors,
  rangeOf,
} from './protobuf/external-data.ts';
import { packedByteLength } from './protobuf/packed-elements.ts';
import { readMessage } from './protobuf/read-message.ts';
import { dtypeFromOnnx } from './protobuf/read-tensor.ts';

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
  const loaded = new Map<string, Uint8Array>();
  for (const tensor of externalTensors(readMessage('ModelProto', model))) {
    const dtype = dtypeFromOnnx(tensor.dataType, `tensor "${tensor.name ?? ''}"`);
    const range = rangeOf(tensor, packedByteLength(dtype, elementCount(tensor.dims)));
    const key = keyOf(range.path, range);
    if (range.byteLength === 0 || loaded.has(key)) continue;
    loaded.set(key, await read(range.path, range));
  }
  return (path, range) => loaded.get(keyOf(path, range)) ?? new Uint8Array();
}

function keyOf(path: string, { byteOffset, byteLength }: ByteRange): string {
  return JSON.stringify([path, byteOffset, byteLength]);
}
