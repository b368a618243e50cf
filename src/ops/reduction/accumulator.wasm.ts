import { apply, type Expression, f64, i32, i64 } from '../../wasm/expression.ts';
import type { ScalarAccess } from '../lowering/scalar-access.wasm.ts';

/** A value in which elements are added up: floats in double precision. */
export interface Accumulator {
  readonly type: 'i32' | 'i64' | 'f64';
  constant(value: number): Expression;
  /** Converts an element to the type of the sum. */
  widen(value: Expression): Expression;
  narrow(value: Expression): Expression;
}

export function accumulator({ type }: Pick<ScalarAccess, 'type'>): Accumulator {
  const same = (value: Expression): Expression => value;
  switch (type) {
    case 'i32':
      return { type, constant: i32, widen: same, narrow: same };
    case 'i64':
      return { type, constant: (value) => i64(BigInt(value)), widen: same, narrow: same };
    case 'f64':
      return { type, constant: f64, widen: same, narrow: same };
    case 'f32':
      return {
        type: 'f64',
        constant: f64,
        widen: (value) => apply('f64.promote_f32', value),
        narrow: (value) => apply('f32.demote_f64', value),
      };
    default:
      return type satisfies never;
  }
}
