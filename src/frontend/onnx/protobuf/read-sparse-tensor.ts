import { dtypeInfo } from '../../../core/tensor/dtype.ts';
import { FormatError, UnsupportedError } from '../../../core/errors.ts';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { elementCount, formatShape } from '../../../core/tensor/shape.ts';
import type { ExternalDataReader } from './external-data.ts';
import { tensorFromProto } from './read-tensor.ts';
import type { SparseTensorProto } from './schema.ts';

/** A sparse tensor may claim any size with a few bytes. */
const MAX_BYTES = 2 ** 31;

/**
 * A SparseTensorProto with its zeros. Indices are places in row-major order, `[count]`, or
 * coordinates, `[count, rank]`.
 *
 * Throws FormatError for indices outside of the tensor, UnsupportedError beyond 2 GiB.
 */
export function denseFromProto(
  proto: SparseTensorProto,
  where: string,
  externalData?: ExternalDataReader,
): HostTensor {
  if (proto.values === undefined || proto.indices === undefined) {
    throw new FormatError({
      where,
      got: 'a sparse tensor without values or indices',
      expected: 'both',
    });
  }
  const values = tensorFromProto(proto.values, where, externalData);
  const indices = tensorFromProto(proto.indices, `${where}: indices`, externalData);
  const shape = [...proto.dims];
  const count = elementCount(shape);
  if (shape.some((dim) => dim < 0) || !Number.isSafeInteger(count)) {
    throw malformed(where, `dimensions ${formatShape(shape)}`, 'dimensions from 0');
  }
  if (count * dtypeInfo(values.dtype).byteLength > MAX_BYTES) {
    throw new UnsupportedError({
      where,
      got: `a sparse tensor of ${formatShape(shape)}`,
      expected: 'at most 2 GiB with its zeros',
    });
  }
  const places = placesOf(indices, shape, where);
  if (values.shape.length !== 1 || places.length !== values.elementCount) {
    throw malformed(
      where,
      `${places.length} indices for ${formatShape(values.shape)} values`,
      'one for each',
    );
  }
  const dense = HostTensor.zeros(values.dtype, shape);
  const size = dtypeInfo(values.dtype).byteLength;
  const to = dense.bytes;
  for (const [i, place] of places.entries()) {
    if (place < 0 || place >= count) throw malformed(where, `index ${place}`, `below ${count}`);
    to.set(values.bytes.subarray(i * size, (i + 1) * size), place * size);
  }
  return dense;
}

/** Places in row-major order. */
function placesOf(indices: HostTensor, shape: readonly number[], where: string): number[] {
  const [count = 0, rank] = indices.shape;
  const isLinear = indices.shape.length === 1;
  const fits = isLinear || (indices.shape.length === 2 && rank === shape.length);
  if (indices.dtype !== 'int64' || !fits) {
    throw malformed(
      where,
      `indices of ${indices.dtype} ${formatShape(indices.shape)}`,
      `int64 (n,) or (n, ${shape.length})`,
    );
  }
  const numbers = Array.from(indices.data, Number);
  if (isLinear) return numbers;
  return Array.from({ length: count }, (_, i) =>
    shape.reduce((place, size, axis) => {
      const at = numbers[i * shape.length + axis] ?? 0;
      if (at < 0 || at >= size)
        throw malformed(where, `index ${at} on axis ${axis}`, `below ${size}`);
      return place * size + at;
    }, 0),
  );
}

function malformed(where: string, got: string, expected: string): FormatError {
  return new FormatError({ where, got, expected, remedy: 'The file may be damaged.' });
}
