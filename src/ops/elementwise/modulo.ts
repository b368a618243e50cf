import type { OpCase } from '../op-cases.ts';
import { boolAttribute } from '../attributes.ts';
import { wgslTypeName } from '../wgsl-literal.ts';
import { defineBinary } from './elementwise-binary.ts';
import { callLanewise, lanewise } from './lanewise.ts';
import { isFloat, NUMERIC } from './number-dtypes.ts';
import { NOT_A_NUMBER } from './transcendental-wgsl.ts';

/** Exact: what remains after subtracting b times every power of two that fits, the largest first. */
const FLOAT_REMAINDER = `  let size = bitcast<u32>(a) & 0x7fffffffu;
  let divisor = bitcast<u32>(b) & 0x7fffffffu;
  if (size >= 0x7f800000u || divisor > 0x7f800000u || divisor < 0x800000u) { return nan_f32(); }
  var rest = abs(a);
  for (var n = i32(size >> 23u) - i32(divisor >> 23u); n >= 0; n--) {
    let part = bitcast<f32>(divisor + (u32(n) << 23u));
    if (rest >= part) { rest -= part; }
  }
  return select(rest, -rest, a < 0.0);`;

/** WGSL leaves a remainder by 0, and that of the least integer by -1, to the implementation. */
const INTEGER_REMAINDER = '  return a % select(b, 1, b == 0 || b == -1);';

const floored = (truncated: string, zero: string) => `  let rest = ${truncated}(a, b);
  return select(rest, rest + b, rest != ${zero} && (rest < ${zero}) != (b < ${zero}));`;

/** Rounds the quotient down, or towards zero when `fmod`. */
export const modulo = defineBinary({
  name: 'mod',
  summary:
    'The remainder of a / b with the sign of b, or with that of a when fmod. Integers: 0 where b is 0.',
  dtypes: NUMERIC,
  attributes: { fmod: { type: 'bool', default: false } },
  tolerance: { rtol: 1e-6, atol: 1e-6 },
  ranges: [
    [-50, 50],
    [1, 9],
  ],
  declarations: {
    ...NOT_A_NUMBER,
    ...lanewise('fmod', FLOAT_REMAINDER, { parameters: ['a', 'b'] }),
    ...lanewise('mod', floored('fmod_f32', '0.0'), { parameters: ['a', 'b'] }),
    ...lanewise('fmod', INTEGER_REMAINDER, { parameters: ['a', 'b'], type: 'i32' }),
    ...lanewise('mod', floored('fmod_i32', '0'), { parameters: ['a', 'b'], type: 'i32' }),
    ...lanewise('fmod', '  return select(a % max(b, 1u), 0u, b == 0u);', {
      parameters: ['a', 'b'],
      type: 'u32',
    }),
  },
  wgsl(a, b, { attributes, output, width }) {
    const type = wgslTypeName(output);
    const isTruncated = boolAttribute(attributes, 'fmod') || type === 'u32';
    return callLanewise(`${isTruncated ? 'fmod' : 'mod'}_${type}`, [a, b], width);
  },
  host(a, b, { attributes, output }) {
    if (b === 0 && !isFloat(output)) return 0;
    const rest = a % b;
    if (boolAttribute(attributes, 'fmod') || rest === 0 || rest < 0 === b < 0) return rest;
    return rest + b;
  },
  wide: {
    wgsl: (a, b, prefix, { attributes }) => {
      const isTruncated = boolAttribute(attributes, 'fmod') || prefix === 'u64';
      return `${prefix}_${isTruncated ? 'rem' : 'mod'}(${a}, ${b})`;
    },
    functions: ['i64_rem', 'i64_mod', 'u64_rem'],
    host(a, b, { attributes }) {
      const rest = b === 0n ? 0n : a % b;
      const isRest = boolAttribute(attributes, 'fmod') || rest === 0n || rest < 0n === b < 0n;
      return isRest ? rest : rest + b;
    },
  },
  cases: [
    ...(['float32', 'int32', 'uint32'] as const).flatMap((dtype) =>
      [false, true].map((fmod): OpCase => {
        const sign = dtype === 'uint32' ? 1 : -1;
        return {
          title: `${dtype} of either sign, fmod ${fmod}`,
          inputs: [
            { dtype, shape: [7], values: [7, 7 * sign, 7, 7 * sign, 6, 6 * sign, 0] },
            { dtype, shape: [7], values: [3, 3, 3 * sign, 3 * sign, 3, 3, 3 * sign] },
          ],
          attributes: { fmod },
        };
      }),
    ),
    {
      title: 'int32 by zero and over the edge',
      inputs: [
        { dtype: 'int32', shape: [3], values: [7, -(2 ** 31), -5] },
        { dtype: 'int32', shape: [3], values: [0, -1, 0] },
      ],
    },
    {
      title: 'quotients beyond the integers of float32',
      inputs: [
        { dtype: 'float32', shape: [6], values: [1e10, 3e38, -7e20, 1e7, 5.5, 1e-3] },
        { dtype: 'float32', shape: [6], values: [3, 7.25, 1.5, 0.1, 1e30, 1e-6] },
      ],
      attributes: { fmod: true },
    },
  ],
});
