import { lanewise } from './lanewise.ts';
import { NOT_A_NUMBER } from './transcendental-wgsl.ts';

const OPERANDS = { parameters: ['a', 'b'] };

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
const INTEGER_REMAINDER = '  return a % select(b, 1, (b == 0) | (b == -1));';

/** `fmod_f32`, `fmod_i32` and `fmod_u32`: remainders with the sign of a, for numbers and vectors. */
export const REMAINDERS: Readonly<Record<'f32' | 'i32' | 'u32', Readonly<Record<string, string>>>> =
  {
    f32: { ...NOT_A_NUMBER, ...lanewise('fmod', FLOAT_REMAINDER, OPERANDS) },
    i32: lanewise('fmod', INTEGER_REMAINDER, { ...OPERANDS, type: 'i32' }),
    u32: lanewise('fmod', '  return select(a % max(b, 1u), 0u, b == 0u);', {
      ...OPERANDS,
      type: 'u32',
    }),
  };
