import type { Tolerance } from '../define-op.ts';
import type { IntrinsicName } from './expression.ts';

interface Intrinsic {
  /** The tolerance of a device's result from the exact one. */
  readonly tolerance: Tolerance;
  /** As many additions take as long, about. Absent: very many. */
  readonly cost?: number;
}

/** WGSL's `sin` may be off by 4e-4, its `atan` and others by 4096 units in the last place. */
const ACCURATE: Intrinsic = { tolerance: { rtol: 4e-6, atol: 1e-6 } };

/**
 * The functions for which neither language nor hardware gives a result that can be relied on: drivers differ in
 * `exp`, `pow` and `tanh`, and WGSL has no `erf`. The host computes all of them in double precision
 * (`host-intrinsics.ts`), devices by code of their own (`intrinsics-wgsl.ts`, `wasm-intrinsics.ts`).
 */
export const INTRINSICS: Readonly<Record<IntrinsicName, Intrinsic>> = {
  exp: { tolerance: { rtol: 1e-5, atol: 1e-6 }, cost: 16 },
  log: { tolerance: { rtol: 1e-5, atol: 1e-6 } },
  log1p: ACCURATE,
  sigmoid: { tolerance: { rtol: 1e-5, atol: 1e-6 }, cost: 24 },
  erf: { tolerance: { rtol: 1e-5, atol: 1e-6 } },
  sin: ACCURATE,
  cos: ACCURATE,
  tan: ACCURATE,
  asin: ACCURATE,
  acos: ACCURATE,
  atan: ACCURATE,
  sinh: ACCURATE,
  cosh: ACCURATE,
  tanh: { tolerance: { rtol: 1e-5, atol: 1e-5 } },
  asinh: ACCURATE,
  acosh: ACCURATE,
  atanh: ACCURATE,
  pow: { tolerance: { rtol: 1e-4, atol: 1e-5 } },
  quotient: { tolerance: { rtol: 0, atol: 0 } },
};
