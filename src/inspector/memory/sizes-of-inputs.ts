import type { ValueInfo } from '../../client/index.ts';
import { DeviceTensor } from '../../client/values/device-tensor.ts';
import type { Inputs } from '../../client/values/input-value.ts';
import { Tensor } from '../../client/values/tensor.ts';

/** Numbers for symbolic dimensions that inputs of a run have; of other inputs than tensors nothing is known. */
export function sizesOfInputs(infos: readonly ValueInfo[], inputs: Inputs): Map<string, number> {
  const sizes = new Map<string, number>();
  for (const { name, shape } of infos) {
    const input = inputs[name];
    if (!(input instanceof Tensor || input instanceof DeviceTensor)) continue;
    for (const [axis, dim] of shape.entries()) {
      const size = input.shape[axis];
      if (typeof dim === 'string' && size !== undefined) sizes.set(dim, size);
    }
  }
  return sizes;
}
