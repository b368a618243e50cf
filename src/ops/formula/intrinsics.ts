import type { Tolerance } from '../define-op.ts';
import { ERF } from './erf-wgsl.ts';
import type { IntrinsicName } from './expression.ts';
import { callLanewise } from './lanewise.ts';
import { POW, WIDE_POW } from './power-wgsl.ts';
import { QUOTIENT } from './quotient-wgsl.ts';
import { isWideType, type ScalarType } from './scalar-type.ts';
import * as wgsl from './transcendental-wgsl.ts';

export type Declarations = Readonly<Record<string, string>>;

/** A call in WGSL: an expression over operand expressions and the functions that it calls. */
export interface WgslCall {
  readonly text: string;
  readonly declarations: Declarations;
}

export interface WgslOperands {
  readonly operands: readonly string[];
  readonly type: ScalarType;
  /** 1, or 4 when operands are vectors; of 64-bit integers always 1. */
  readonly width: 1 | 4;
}

export interface Intrinsic {
  /** Of WGSL's result from the exact one. */
  readonly tolerance: Tolerance;
  /** As many additions take as long, about. Absent: very many. */
  readonly cost?: number;
  readonly wgsl: (call: WgslOperands) => WgslCall;
}

/** A function `name_type` of the declarations. */
const calling =
  (name: IntrinsicName, declarations: Declarations) =>
  ({ operands, type, width }: WgslOperands): WgslCall => ({
    text: callLanewise(`${name}_${type}`, operands, width),
    declarations,
  });

/** WGSL's `sin` may be off by 4e-4, its `atan` and others by 4096 units in the last place. */
const ACCURATE: Tolerance = { rtol: 4e-6, atol: 1e-6 };

function accurate(name: IntrinsicName, declarations: Declarations): Intrinsic {
  return { tolerance: ACCURATE, wgsl: calling(name, declarations) };
}

/**
 * How devices compute the functions for which neither language nor hardware gives a result that can
 * be relied on: drivers differ in `exp`, `pow` and `tanh`, and WGSL has no `erf`. The host computes
 * all of them in double precision (`host-intrinsics.ts`).
 */
export const INTRINSICS: Readonly<Record<IntrinsicName, Intrinsic>> = {
  exp: { tolerance: { rtol: 1e-5, atol: 1e-6 }, cost: 16, wgsl: calling('exp', wgsl.EXP) },
  log: { tolerance: { rtol: 1e-5, atol: 1e-6 }, wgsl: calling('log', wgsl.LOG) },
  log1p: accurate('log1p', wgsl.LOG1P),
  sigmoid: {
    tolerance: { rtol: 1e-5, atol: 1e-6 },
    cost: 24,
    wgsl: calling('sigmoid', wgsl.SIGMOID),
  },
  erf: { tolerance: { rtol: 1e-5, atol: 1e-6 }, wgsl: calling('erf', ERF) },
  sin: accurate('sin', wgsl.SIN),
  cos: accurate('cos', wgsl.COS),
  tan: accurate('tan', wgsl.TAN),
  asin: accurate('asin', wgsl.ASIN),
  acos: accurate('acos', wgsl.ACOS),
  atan: accurate('atan', wgsl.ATAN),
  sinh: accurate('sinh', wgsl.SINH),
  cosh: accurate('cosh', wgsl.COSH),
  // Implementations divide exponentials, which overflow from 88 on; beyond 10 the result is 1.
  tanh: {
    tolerance: { rtol: 1e-5, atol: 1e-5 },
    wgsl: ({ operands: [x = ''], width }) => ({
      text: `select(tanh(${x}), sign(${x}), abs(${x}) > ${width === 1 ? '10f' : 'vec4<f32>(10f)'})`,
      declarations: {},
    }),
  },
  asinh: accurate('asinh', wgsl.ASINH),
  acosh: accurate('acosh', wgsl.ACOSH),
  atanh: accurate('atanh', wgsl.ATANH),
  /** As IEEE 754 has it; an integer to a negative power is 0 unless the base is 1 or -1. */
  pow: {
    tolerance: { rtol: 1e-4, atol: 1e-5 },
    wgsl: (call) => (isWideType(call.type) ? widePower(call) : calling('pow', POW)(call)),
  },
  /** a / b, rounded to nearest. */
  quotient: { tolerance: { rtol: 0, atol: 0 }, wgsl: calling('quotient', QUOTIENT) },
};

function widePower({ operands, type }: WgslOperands): WgslCall {
  const text = `pow_wide(${operands.join(', ')}, ${type === 'i64'})`;
  return { text, declarations: WIDE_POW };
}
