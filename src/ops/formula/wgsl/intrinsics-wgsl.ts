import type { IntrinsicName } from '../expression.ts';
import { callLanewise, lanewise } from './lanewise.ts';
import { POW, WIDE_POW } from './power-wgsl.ts';
import { isWideType, type ScalarType } from '../scalar-type.ts';
import * as wgsl from './transcendental-wgsl.ts';
import { vectorwise } from './transcendental-wgsl.ts';

/**
 * WGSL has no erf. Away from zero formula 7.1.26 of Abramowitz and Stegun, whose error is at most
 * 1.5e-7; below 0.05 two terms of the Taylor series, so that the relative error stays small.
 */
const ERF: Readonly<Record<string, string>> = vectorwise(
  'erf',
  'select(far, x * (1.1283791671 - 0.3761263890 * x * x), a < T(0.05))',
  `  let a = min(abs(x), T(4.0));
  let t = 1.0 / (1.0 + 0.3275911 * a);
  let p = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
  let size = 1.0 - p * exp(-a * a);
  let far = select(size, -size, x < T());
`,
);

/**
 * WGSL allows quotients to be off by 2.5 units in the last place, which would round halves wrongly.
 * The rest of the quotient, computed from halves of the significands whose products are exact
 * (Dekker, "A Floating-Point Technique for Extending the Available Precision", 1971), corrects it.
 */
const QUOTIENT: Readonly<Record<string, string>> = /* @__PURE__ */ lanewise(
  'quotient',
  `  let d = a / b;
  if (!(abs(d) < 0x1p23f) || d == 0.0) {
    return d;
  }
  let d0 = bitcast<f32>(bitcast<u32>(d) & 0xfffff000u);
  let b0 = bitcast<f32>(bitcast<u32>(b) & 0xfffff000u);
  let d1 = d - d0;
  let b1 = b - b0;
  return d + (a - d0 * b0 - d0 * b1 - d1 * b0 - d1 * b1) / b;`,
  { parameters: ['a', 'b'] },
);

export type Declarations = Readonly<Record<string, string>>;

/** A call in WGSL: an expression over operand expressions and the functions that it calls. */
interface WgslCall {
  readonly text: string;
  readonly declarations: Declarations;
}

interface WgslOperands {
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
