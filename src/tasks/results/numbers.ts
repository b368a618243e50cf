import type { DeviceTensor } from '../../client/values/device-tensor.ts';
import { instanceOf, requireKind } from '../../core/check-options.ts';
import { Tensor } from '../../client/values/tensor.ts';
import { ShapeError } from '../../core/errors.ts';
import { float16ToNumber } from '../../core/tensor/float16.ts';
import type { ValueInfo } from '../../worker/protocol/loaded-session.ts';

const TENSOR = instanceOf('a Tensor', Tensor);

/** The elements of a tensor as numbers: those of float16, which are bits in its `data`, decoded, and those of int64 rounded. */
export function numbersOf(tensor: Tensor): Float32Array | Float64Array {
  requireKind('numbersOf', TENSOR, ['what is', tensor]);
  const { dtype, data } = tensor;
  if (data instanceof Float32Array || data instanceof Float64Array) return data;
  const decode = dtype === 'float16' ? (bits: number) => float16ToNumber(bits) : Number;
  return Float64Array.from(data as ArrayLike<number>, decode);
}

/** The output of one of these names, or the first one. Throws ShapeError for a model without outputs. */
export function outputOf<Output extends Tensor | DeviceTensor | ValueInfo>(
  outputs: Readonly<Record<string, Output>>,
  names: readonly string[],
): Output {
  const name = names.find((candidate) => Object.hasOwn(outputs, candidate));
  const found = name === undefined ? Object.values(outputs)[0] : outputs[name];
  if (found !== undefined) return found;
  throw new ShapeError({ where: 'the model', got: 'no outputs', expected: names.join(', ') });
}
