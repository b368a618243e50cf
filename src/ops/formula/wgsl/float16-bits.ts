/**
 * Functions from f32 to the bits of binary16, by width: rounded once, to nearest, ties to even;
 * infinity from 65,520 on. pack2x16float may round either way and leaves overflow open.
 */
export const FLOAT16_BITS = {
  1: halfBits('half_bits1', 'f32', 'u32'),
  4: halfBits('half_bits4', 'vec4<f32>', 'vec4<u32>'),
} as const;

/** Functions that round an f32 to the nearest binary16; they call those above. */
export const ROUND_TO_FLOAT16 = {
  1: `fn round_half1(x: f32) -> f32 {
  return unpack2x16float(half_bits1(x)).x;
}`,
  4: `fn round_half4(x: vec4<f32>) -> vec4<f32> {
  let bits = half_bits4(x);
  let halves = bits.xz | (bits.yw << vec2<u32>(16u));
  return vec4<f32>(unpack2x16float(halves.x), unpack2x16float(halves.y));
}`,
} as const;

/** Adding 0.5 to a magnitude below 2^-14 leaves the subnormal's bits at the end of the sum. */
function halfBits(name: string, float: string, uint: string): string {
  const u = (value: string) => `${uint}(${value})`;
  return `fn ${name}(x: ${float}) -> ${uint} {
  let bits = bitcast<${uint}>(x);
  let size = bits & ${u('0x7fffffffu')};
  let small = bitcast<${uint}>(bitcast<${float}>(size) + ${float}(0.5f)) - ${u('0x3f000000u')};
  let odd = (size >> ${u('13u')}) & ${u('1u')};
  let normal = (size + ${u('0xc8000fffu')} + odd) >> ${u('13u')};
  let beyond = select(${u('0x7c00u')}, ${u('0x7e00u')}, size > ${u('0x7f800000u')});
  let finite = select(normal, small, size < ${u('0x38800000u')});
  let half = select(finite, beyond, size >= ${u('0x47800000u')});
  return half | ((bits >> ${u('16u')}) & ${u('0x8000u')});
}`;
}
