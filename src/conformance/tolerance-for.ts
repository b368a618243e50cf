import type { Tolerance } from '../core/all-close.ts';
import type { HostTensor } from '../core/host-tensor.ts';

/** How far a result may be from what is expected: float16 may be rounded to the neighbour of it. */
export function toleranceFor(tolerance: Tolerance, { dtype }: HostTensor): Tolerance {
  return dtype === 'float16' ? atHalfPrecision(tolerance) : tolerance;
}

/** The tolerance with a rounding to float16 more; that of an exact operator as it is. */
export function atHalfPrecision({ rtol, atol }: Tolerance): Tolerance {
  if (rtol === 0 && atol === 0) return { rtol, atol };
  return { rtol: rtol + 2 ** -10, atol: atol + 2 ** -24 };
}
