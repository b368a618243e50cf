import { concatenate } from '../../core/bytes/concatenate.ts';
import { FormatError, UnsupportedError } from '../../core/errors.ts';
import { decodeFloat16 } from '../../core/tensor/float16-arrays.ts';
import { reserveTensorMemory } from '../../core/limits/work-meter.ts';
import { budgetInForce } from '../../compiler/ir/compile-budget.ts';
import type { ExternalDataReader, ExternalRange } from '../onnx/protobuf/external-data.ts';
import type { TensorProto } from '../onnx/protobuf/schema.ts';
import type { GraphModel, Weight } from './graph-model.ts';
import { tensorOf } from './protos.ts';

/** The files of a model; each is read to its end, at most the bytes of its group. */
export function weightFiles({ groups }: GraphModel): ExternalRange[] {
  return groups.flatMap(({ paths, byteLength }) =>
    byteLength === 0 ? [] : paths.map((path) => ({ path, byteOffset: 0, byteLength })),
  );
}

/** The bytes of each weight. Throws FormatError for files that are too short, UnsupportedError where nobody reads them. */
export function readWeights(
  { groups, weights }: GraphModel,
  read: ExternalDataReader | undefined,
): (weight: Weight) => Uint8Array {
  const all = groups.map(({ paths, byteLength }): Uint8Array => {
    if (byteLength === 0) return new Uint8Array();
    if (read === undefined) throw unread(paths[0] ?? '');
    const parts = paths.map((path) => read(path, { byteOffset: 0, byteLength }));
    const bytes = parts.length === 1 ? (parts[0] ?? new Uint8Array()) : concatenate(parts);
    budgetInForce()?.addWeights(bytes.byteLength);
    if (bytes.byteLength >= byteLength) return bytes;
    throw new FormatError({
      where: paths.join(', '),
      got: `${bytes.byteLength} bytes`,
      expected: `${byteLength} for ${weights.length} weights`,
      remedy: 'The file may be truncated, or belong to another model.',
    });
  });
  return ({ group, byteOffset, byteLength }) =>
    (all[group] ?? new Uint8Array()).subarray(byteOffset, byteOffset + byteLength);
}

function unread(path: string): UnsupportedError {
  return new UnsupportedError({
    where: 'TensorFlow.js model',
    got: `weights in ${path}`,
    expected: 'a way to read that file',
    remedy: 'Give the option externalData, or load the model by its URL.',
  });
}

/** Weights of float16 up to here are decoded: importers read some, such as limits. */
const MOST_DECODED = 1024;

/** The tensor of a weight. Many elements of float16 stay so. */
export function weightTensor(weight: Weight, bytes: Uint8Array): TensorProto {
  const { name, shape, dtype, quantization } = weight;
  if (quantization?.dtype === 'float16') {
    if (bytes.byteLength > MOST_DECODED) return tensorOf(name, 'float16', shape, bytes);
    const values = decodeFloat16(new Uint16Array(bytes.slice().buffer));
    return tensorOf(name, 'float32', shape, new Uint8Array(values.buffer));
  }
  if (quantization === undefined) {
    if (dtype === 'int32' || dtype === 'bool') return tensorOf(name, dtype, shape, bytes);
    return tensorOf(name, 'float32', shape, bytes);
  }
  const { scale, min } = quantization;
  const count = bytes.byteLength / (quantization.dtype === 'uint16' ? 2 : 1);
  reserveTensorMemory(count * 4);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const codes =
    quantization.dtype === 'uint16'
      ? (i: number) => view.getUint16(2 * i, true)
      : (i: number) => view.getUint8(i);
  const values = dtype === 'int32' ? new Int32Array(count) : new Float32Array(count);
  for (let i = 0; i < count; i++) {
    const value = codes(i) * scale + min;
    values[i] = dtype === 'int32' ? Math.round(value) : value;
  }
  return tensorOf(
    name,
    dtype === 'int32' ? 'int32' : 'float32',
    shape,
    new Uint8Array(values.buffer),
  );
}
