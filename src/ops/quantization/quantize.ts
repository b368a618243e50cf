import { defineElementwise } from '../elementwise/elementwise.ts';
import * as f from '../formula/build.ts';
import type { DType } from '../../core/tensor/dtype.ts';

/** Integers that tensors are quantised to. */
const QUANTIZED: readonly DType[] = [
  'uint8',
  'int8',
  'uint16',
  'int16',
  'uint4',
  'int4',
  'uint2',
  'int2',
];

/** The least and the greatest integer of a dtype of up to 16 bits. */
function integerRange(dtype: DType): readonly [number, number] {
  const bits = Number(/\d+$/.exec(dtype)?.[0] ?? 8);
  return dtype.startsWith('u') ? [0, 2 ** bits - 1] : [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1];
}

const [X, SCALE, ZERO_POINT] = [f.operand(0), f.operand(1), f.operand(2)];

const SHIFTED = f.add(
  f.round(f.intrinsic('quotient', f.convert(X, 'f32'), SCALE)),
  f.convert(ZERO_POINT, 'f32'),
);

/** Floats as integers with a scale and a zero point, as ONNX's QuantizeLinear has it. */
export const quantize = defineElementwise({
  name: 'quantize',
  inputs: [
    { name: 'x', dtypes: ['float32', 'int32'] },
    { name: 'scale', dtypes: ['float32'] },
    { name: 'zero_point', dtypes: QUANTIZED },
  ],
  sameDType: [],
  output: ([, , dtype = 'uint8']) => dtype,
  scalar: {
    formula: ({ output }) => {
      const [low, high] = integerRange(output);
      return f.convert(f.min(f.max(f.convert(SHIFTED, 'i32'), low), high), 'output');
    },
  },
});

const elementwiseDequantize = defineElementwise({
  name: 'dequantize',
  inputs: [
    { name: 'x', dtypes: [...QUANTIZED, 'int32'] },
    { name: 'scale', dtypes: ['float32'] },
    { name: 'zero_point', dtypes: [...QUANTIZED, 'int32'] },
  ],
  sameDType: [0, 2],
  output: ([, dtype = 'float32']) => dtype,
  scalar: {
    cost: 3,
    formula: f.mul(
      f.convert(f.sub(f.convert(f.operand(0), 'i32'), f.convert(f.operand(2), 'i32')), 'f32'),
      f.operand(1),
    ),
  },
  tolerance: { rtol: 1e-6, atol: 0 },
});

/** Integers with a scale and a zero point as floats, as ONNX's DequantizeLinear has it. */
export const dequantize = { ...elementwiseDequantize, storage: { unpacks: true } } as const;
