import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import { isSmallFloat, smallFloatToNumber } from '../../core/tensor/small-floats.ts';

/** The number that a tensor repeats. Looks only at splats and single elements: others seldom do. */
export function constantNumber(tensor: HostTensor): number | undefined {
  const { dtype, isSplat, elementCount, elements } = tensor;
  if (!isSplat && elementCount !== 1) return undefined;
  const element = elements[0];
  if (element === undefined) return undefined;
  return isSmallFloat(dtype) ? smallFloatToNumber(dtype, Number(element)) : Number(element);
}
