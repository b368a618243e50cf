import { defineElementwise } from '../elementwise/elementwise.ts';
import * as f from '../formula/build.ts';
import { QUANTIZED } from './integer-range.ts';

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
