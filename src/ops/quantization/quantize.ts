import type { DType } from '../../core/dtype.ts';
import type { OpCase } from '../op-cases.ts';
import { defineElementwise } from '../elementwise/elementwise.ts';
import { callLanewise, lanewise } from '../elementwise/lanewise.ts';
import { roundToEven } from '../elementwise/rounding.ts';
import { wgslLiteral, wgslOperandType } from '../wgsl-literal.ts';
import { integerRange, QUANTIZED } from './integer-range.ts';

/** Floats as integers with a scale and a zero point, as ONNX's QuantizeLinear has it. */
export const quantize = defineElementwise({
  name: 'quantize',
  summary:
    'x / scale, a float32, rounded to the nearest integer, halves to the even one, plus the zero ' +
    'point, saturated to the dtype of the zero point.',
  inputs: [
    { name: 'x', dtypes: ['float32', 'int32'] },
    { name: 'scale', dtypes: ['float32'] },
    { name: 'zero_point', dtypes: QUANTIZED },
  ],
  sameDType: [],
  output: ([, , dtype = 'uint8']) => dtype,
  scalar: {
    wgsl([x = '', scale = '', zero = ''], { dtypes, output, width }) {
      const float = wgslOperandType('float32', width);
      const value = dtypes[0] === 'int32' ? `${float}(${x})` : x;
      const [low, high] = integerRange(output).map((end) => wgslLiteral(end, 'float32', width));
      const rounded = `round(${callLanewise('quotient_f32', [value, scale], width)})`;
      const type = wgslOperandType(output, width);
      return `${type}(clamp(${rounded} + ${float}(${zero}), ${low}, ${high}))`;
    },
    declarations: () => QUOTIENT,
    host([x = 0, scale = 1, zero = 0], { output }) {
      const [low, high] = integerRange(output);
      const rounded = roundToEven(Math.fround(Math.fround(x) / scale));
      return Math.min(Math.max(rounded + zero, low), high);
    },
  },
  cases: () => [
    ...(['uint8', 'int8', 'uint16', 'int16'] as const).map((dtype) =>
      quantizeCase([5, 7], { dtype, scale: [1], zero: [1] }),
    ),
    quantizeCase([2, 3, 4, 4], { dtype: 'uint8', scale: [3, 1, 1], zero: [3, 1, 1] }),
    quantizeCase([6, 8], { dtype: 'int8', scale: [6, 1], zero: [] }),
    quantizeCase([3, 5], { dtype: 'int4', scale: [], zero: [] }),
    quantizeCase([3, 5], { dtype: 'uint2', scale: [], zero: [] }),
    quantizeCase([0, 4], { dtype: 'uint8', scale: [], zero: [] }),
    {
      title: 'halves, and what is beyond the range',
      inputs: [
        {
          dtype: 'float32',
          shape: [11],
          values: [-5, -3, -1, 1, 3, 5, 251, 1e9, -1e9, Infinity, -Infinity],
        },
        { dtype: 'float32', shape: [], values: [2] },
        { dtype: 'uint8', shape: [], values: [128] },
      ],
    },
    {
      title: 'quotients that are halves only when they are rounded',
      inputs: [
        { dtype: 'float32', shape: [256], values: NEAR_HALVES.map(([x]) => x) },
        { dtype: 'float32', shape: [256], values: NEAR_HALVES.map(([, scale]) => scale) },
        { dtype: 'uint8', shape: [], values: [0] },
      ],
    },
    {
      title: 'int32',
      inputs: [
        { dtype: 'int32', shape: [33], range: [-1000, 1000] },
        { dtype: 'float32', shape: [], values: [3] },
        { dtype: 'int8', shape: [], values: [-5] },
      ],
    },
  ],
  badCases: () => [
    {
      title: 'float zero point',
      inputs: [
        { dtype: 'float32', shape: [2] },
        { dtype: 'float32', shape: [] },
        { dtype: 'float32', shape: [] },
      ],
    },
    {
      title: 'no zero point',
      inputs: [
        { dtype: 'float32', shape: [2] },
        { dtype: 'float32', shape: [] },
      ],
    },
    quantizeCase([4, 3], { dtype: 'uint8', scale: [4], zero: [] }),
  ],
});

interface QuantizeCase {
  readonly dtype: DType;
  readonly scale: readonly number[];
  readonly zero: readonly number[];
}

function quantizeCase(shape: readonly number[], { dtype, scale, zero }: QuantizeCase): OpCase {
  return {
    title: `(${shape.join(', ')}) by (${scale.join(', ')}) as ${dtype}`,
    inputs: [
      { dtype: 'float32', shape, range: [-30, 30] },
      { dtype: 'float32', shape: scale, range: [0.05, 0.5] },
      { dtype, shape: zero, range: dtype.endsWith('2') ? [0, 4] : [0, 8] },
    ],
  };
}

/** Numbers and scales whose quotient is a half or next to one. */
const NEAR_HALVES = /* @__PURE__ */ Array.from({ length: 256 }, (_, i): [number, number] => {
  const scale = Math.fround(0.013 + i * 0.0007);
  return [Math.fround((i - 0.5) * scale), scale];
});

/**
 * WGSL allows quotients to be off by 2.5 units in the last place, which would round halves wrongly.
 * What the quotient leaves over, computed from halves of the significands whose products are exact
 * (Dekker, "A Floating-Point Technique for Extending the Available Precision", 1971), corrects it.
 */
const QUOTIENT = /* @__PURE__ */ lanewise(
  'quotient',
  `  let d = a / b;
  if (!(abs(d) < 0x1p23f)) {
    return d;
  }
  let d0 = bitcast<f32>(bitcast<u32>(d) & 0xfffff000u);
  let b0 = bitcast<f32>(bitcast<u32>(b) & 0xfffff000u);
  let d1 = d - d0;
  let b1 = b - b0;
  return d + (a - d0 * b0 - d0 * b1 - d1 * b0 - d1 * b1) / b;`,
  { parameters: ['a', 'b'] },
);
