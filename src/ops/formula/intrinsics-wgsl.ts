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

/** A function `name_type` of the declarations. */
const calling =
  (name: IntrinsicName, declarations: Declarations) =>
  ({ operands, type, width }: WgslOperands): WgslCall => ({
    text: callLanewise(`${name}_${type}`, operands, width),
    declarations,
  });

/** How WebGPU computes the intrinsics. */
export const WGSL_INTRINSICS: Readonly<Record<IntrinsicName, (call: WgslOperands) => WgslCall>> = {
  exp: calling('exp', wgsl.EXP),
  log: calling('log', wgsl.LOG),
  log1p: calling('log1p', wgsl.LOG1P),
  sigmoid: calling('sigmoid', wgsl.SIGMOID),
  erf: calling('erf', ERF),
  sin: calling('sin', wgsl.SIN),
  cos: calling('cos', wgsl.COS),
  tan: calling('tan', wgsl.TAN),
  asin: calling('asin', wgsl.ASIN),
  acos: calling('acos', wgsl.ACOS),
  atan: calling('atan', wgsl.ATAN),
  sinh: calling('sinh', wgsl.SINH),
  cosh: calling('cosh', wgsl.COSH),
  // Implementations divide exponentials, which overflow from 88 on; beyond 10 the result is 1.
  tanh: ({ operands: [x = ''], width }) => ({
    text: `select(tanh(${x}), sign(${x}), abs(${x}) > ${width === 1 ? '10f' : 'vec4<f32>(10f)'})`,
    declarations: {},
  }),
  asinh: calling('asinh', wgsl.ASINH),
  acosh: calling('acosh', wgsl.ACOSH),
  atanh: calling('atanh', wgsl.ATANH),
  /** As IEEE 754 has it; an integer to a negative power is 0 unless the base is 1 or -1. */
  pow: (call) => (isWideType(call.type) ? widePower(call) : calling('pow', POW)(call)),
  /** a / b, rounded to nearest. */
  quotient: calling('quotient', QUOTIENT),
};

function widePower({ operands, type }: WgslOperands): WgslCall {
  const text = `pow_wide(${operands.join(', ')}, ${type === 'i64'})`;
  return { text, declarations: WIDE_POW };
}
