import { internalError } from '../../core/errors.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { PrimitiveFunction } from '../../core/contracts/primitive-function.ts';
import type { Kernel } from '../../device/device.ts';
import { fits, readValues, tooMany, wrongType } from '../kernel-arguments.ts';
import { readTensors, readTensorSync } from '../values/tensor-read.ts';
import { type PackedFunction, TensorValue } from '../values/value.ts';

/**
 * Calls a kernel that makes its result itself. Its inputs are read in one round trip, wherever they
 * are; host memory is not waited for. A file of its own, loaded for programs that have such kernels.
 */
export function returning(
  kernel: Kernel,
  primitive: PrimitiveFunction,
  upload: (tensor: HostTensor) => TensorValue,
): PackedFunction {
  const { params } = primitive;
  // Others tell sizes only.
  const isRead = readValues(primitive);
  const compute = (inputs: readonly HostTensor[]): TensorValue => {
    const result = kernel.compute?.(inputs);
    if (result === undefined) throw internalError(`${kernel.name} computes no result`);
    return upload(result);
  };
  return (...args) => {
    if (args.length > params.length) throw tooMany(kernel.name, params.length, args.length);
    const symbols = new Map<string, number>();
    const tensors = params.map((type, index) => {
      const tensor = args[index];
      if (tensor instanceof TensorValue && fits(tensor, type, symbols)) return tensor;
      throw wrongType(kernel.name, index, { tensor: tensor ?? null, type });
    });
    const read = tensors.filter((_, i) => isRead.has(i));
    const withOthers = (contents: readonly HostTensor[]): TensorValue => {
      const left = [...contents];
      const inputs = tensors.map(({ dtype, shape }, i) =>
        isRead.has(i) ? left.shift() : HostTensor.splat(dtype, shape, 0),
      );
      return compute(inputs.filter((input) => input !== undefined));
    };
    const ready: HostTensor[] = [];
    for (const tensor of read) {
      const contents = readTensorSync(tensor);
      if (contents === undefined) return readTensors(read).then(withOthers);
      ready.push(contents);
    }
    return withOthers(ready);
  };
}
