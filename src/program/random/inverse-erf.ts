import { apply } from '../apply.ts';
import type { ArrayState } from '../array-state.ts';

/** Coefficients of the polynomials, from the highest power: NEAR below 5, FAR from 5 on. */
const NEAR = [
  2.81022636e-8, 3.43273939e-7, -3.5233877e-6, -4.39150654e-6, 0.00021858087, -0.00125372503,
  -0.00417768164, 0.246640727, 1.50140941,
];
const FAR = [
  -0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613,
  0.00943887047, 1.00167406, 2.83297682,
];

/**
 * The inverse of the error function between -1 and 1, in float32 (Giles 2012, "Approximating the erfinv function").
 */
export function inverseErf(x: ArrayState): ArrayState {
  const w = apply('neg', [apply('log1p', [apply('neg', [apply('mul', [x, x])])])]);
  const near = polynomial(NEAR, apply('sub', [w, 2.5]));
  // Of both, the one that is not taken has to be finite, for derivatives.
  const far = polynomial(FAR, apply('sub', [apply('sqrt', [apply('maximum', [w, 5])]), 3]));
  return apply('mul', [apply('where', [apply('less', [w, 5]), near, far]), x]);
}

function polynomial([first = 0, ...rest]: readonly number[], at: ArrayState): ArrayState {
  const [second = 0, ...others] = rest;
  const start = apply('add', [apply('mul', [at, first]), second]);
  return others.reduce((sum, factor) => apply('add', [apply('mul', [sum, at]), factor]), start);
}
