import { ALL_DTYPES, type DType, dtypeInfo, isBigInt, isDType } from '../../core/dtype.ts';
import { internalError, ShapeError } from '../../core/errors.ts';
import { float16ToNumber, numberToFloat16 } from '../../core/float16.ts';
import { stringAttribute } from '../attributes.ts';
import type { OpDefinition, ScalarContext } from '../define-op.ts';
import { defineElementwise } from './elementwise.ts';
import { operand } from '../operand-checks.ts';
import { wgslOperandType } from '../wgsl-literal.ts';

const elementwiseBitcast = defineElementwise({
  name: 'bitcast',
  summary: 'The bits of x as another dtype of the same size.',
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
      from === 'float32' && isShort(output)
        ? { [`bits_of_half${width}`]: BITS_OF_HALF[width] }
        : {},
    host: ([x = 0], { dtypes: [from = 'float32'], output }) => {
      if (from === 'float32' && isShort(output)) return numberToFloat16(x);
      if (isShort(from) && output === 'float32') return float16ToNumber(x & 0xffff);
      if (output === 'bool') return Number(x !== 0);
      if (from === 'float32') WORD.setFloat32(0, x);
      else WORD.setInt32(0, x);
      if (output === 'float32') return WORD.getFloat32(0);
      return output.startsWith('uint') ? WORD.getUint32(0) : WORD.getInt32(0);
    },
    hostBigint: ([x = 0n]) => x,
  },
  cases: () => [
    ...SAME_SIZES.flatMap((dtypes) =>
      dtypes.flatMap((from) =>
        dtypes.flatMap((to) =>
          [7, 8].map((count) => ({
            title: `${count} of ${from} as ${to}`,
            inputs: [{ dtype: from, shape: [count], ...(isWord(from) ? { range: NUMBERS } : {}) }],
            attributes: { to },
          })),
        ),
      ),
    ),
    { title: 'empty', inputs: [{ dtype: 'int32', shape: [0] }], attributes: { to: 'float32' } },
  ],
  badCases: () => [
    { title: 'sizes differ', inputs: [{ dtype: 'int8', shape: [2] }], attributes: { to: 'int32' } },
  ],
});

/** Bits of float32 from 0.0078 to 1.56, so that no comparison meets a NaN. */
const NUMBERS = [1_006_632_960, 1_070_000_000] as const;
const isWord = (dtype: DType) => dtype === 'int32' || dtype === 'uint32';

const SAME_SIZES: readonly (readonly DType[])[] = [
  ['int8', 'uint8', 'bool'],
  ['int16', 'uint16', 'float16'],
  ['int32', 'uint32', 'float32'],
  ['int64', 'uint64'],
];

/** The bits of elements as another dtype. */
export const bitcast: OpDefinition = {
  ...elementwiseBitcast,
  takesBits: true,
  reference(inputs, _, output) {
    const { buffer, byteOffset, byteLength } = operand(inputs, 0).data;
    const { elements } = output;
    const target = new Uint8Array(elements.buffer, elements.byteOffset, elements.byteLength);
    target.set(new Uint8Array(buffer, byteOffset, byteLength));
    if (output.dtype === 'bool')
      for (const [i, bits] of target.entries()) target[i] = Number(bits !== 0);
  },
};

const WORD = /* @__PURE__ */ new DataView(/* @__PURE__ */ new ArrayBuffer(4));

const isShort = (dtype: DType) => dtype === 'int16' || dtype === 'uint16';

/** float16 comes and goes as the float32 of the same value. */
function reinterpret(
  x: string,
  { dtypes: [from = 'float32'], output, width }: ScalarContext,
): string {
  if (isBigInt(output)) return x;
  const type = wgslOperandType(output, width);
  if (from === 'float32' && isShort(output)) return `${type}(bits_of_half${width}(${x}))`;
  if (isShort(from) && output === 'float32') {
    const half = (of: string) => `unpack2x16float(u32(${of}) & 65535u).x`;
    if (width === 1) return half(x);
    return `vec4<f32>(${['x', 'y', 'z', 'w'].map((lane) => half(`${x}.${lane}`)).join(', ')})`;
  }
  return from === 'bool' || output === 'bool' ? `${type}(${x})` : `bitcast<${type}>(${x})`;
}

/** Exact, because the values are those of float16. */
const BITS_OF_HALF = {
  1: `fn bits_of_half1(x: f32) -> u32 {
  return pack2x16float(vec2<f32>(x, 0f)) & 65535u;
}`,
  4: `fn bits_of_half4(x: vec4<f32>) -> vec4<u32> {
  let a = pack2x16float(x.xy);
  let b = pack2x16float(x.zw);
  return vec4<u32>(a & 65535u, a >> 16u, b & 65535u, b >> 16u);
}`,
};
