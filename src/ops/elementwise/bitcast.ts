import { ALL_DTYPES, type DType, dtypeInfo, isBigInt, isDType } from '../../core/tensor/dtype.ts';
import { internalError, ShapeError } from '../../core/errors.ts';
import { stringAttribute } from '../attributes.ts';
import type { ScalarContext } from '../define-op.ts';
import { FLOAT16_BITS } from '../formula/wgsl/float16-bits.ts';
import { defineElementwise } from './elementwise.ts';
import { wgslOperandType } from '../lowering/wgsl-literal.ts';

/** The bits of elements as another dtype. */
export const bitcast = defineElementwise({
  name: 'bitcast',
  inputs: [{ name: 'x', dtypes: ALL_DTYPES }],
  attributes: { to: { type: 'dtype' } },
  output: ([from = 'float32'], attributes) => {
    const to = stringAttribute(attributes, 'to');
    if (!isDType(to)) throw internalError(`bitcast to ${to}`);
    if (dtypeInfo(to).byteLength === dtypeInfo(from).byteLength) return to;
    throw new ShapeError({
      where: 'bitcast',
      got: `${from} as ${to}`,
      expected: 'a dtype of the same size',
    });
  },
  // No formula: it is the layout of each dtype, float16's among them, that bits are taken from.
  scalar: {
    wgsl: ([x = ''], context) => reinterpret(x, context),
    declarations: ({ dtypes: [from = 'float32'], output, width }) =>
      from === 'float32' && isShort(output) ? { [`half_bits${width}`]: FLOAT16_BITS[width] } : {},
  },
});

export const isShort = (dtype: DType) => dtype === 'int16' || dtype === 'uint16';

/** float16 comes and goes as the float32 of the same value. */
function reinterpret(
  x: string,
  { dtypes: [from = 'float32'], output, width }: ScalarContext,
): string {
  if (isBigInt(output)) return x;
  const type = wgslOperandType(output, width);
  if (from === 'float32' && isShort(output)) return `${type}(half_bits${width}(${x}))`;
  if (isShort(from) && output === 'float32') {
    const half = (of: string) => `unpack2x16float(u32(${of}) & 65535u).x`;
    if (width === 1) return half(x);
    return `vec4<f32>(${['x', 'y', 'z', 'w'].map((lane) => half(`${x}.${lane}`)).join(', ')})`;
  }
  return from === 'bool' || output === 'bool' ? `${type}(${x})` : `bitcast<${type}>(${x})`;
}
