import type { HostTensor } from '../core/tensor/host-tensor.ts';

/** The result of `read_if_cond` for a tensor of one element: 0 for a zero of either sign, else 1. */
export function truthOf(scalar: HostTensor): 0 | 1 {
  const element = Number(scalar.elements[0] ?? 0);
  // The sign bit of a float16 zero is set in -0.
  const magnitude = scalar.dtype === 'float16' ? element & 0x7fff : element;
  return magnitude === 0 ? 0 : 1;
}
