/**
 * WGSL functions of 64-bit integers as vec2<u32>, the low word first. Those named `i64_` read the
 * sign of int64, those named `u64_` take all bits as uint64, those named `wide_` serve both.
 */
const FUNCTIONS = {
  wide_add: `fn wide_add(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let low = a.x + b.x;
  return vec2<u32>(low, a.y + b.y + select(0u, 1u, low < a.x));
}`,
  wide_sub: `fn wide_sub(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return vec2<u32>(a.x - b.x, a.y - b.y - select(0u, 1u, a.x < b.x));
}`,
  wide_neg: `fn wide_neg(a: vec2<u32>) -> vec2<u32> {
  return vec2<u32>(~a.x + 1u, ~a.y + select(0u, 1u, a.x == 0u));
}`,
  wide_product: `fn wide_product(a: u32, b: u32) -> vec2<u32> {
  let al = a & 0xffffu;
  let ah = a >> 16u;
  let bl = b & 0xffffu;
  let bh = b >> 16u;
  let middle = ah * bl + ((al * bl) >> 16u);
  let cross = al * bh + (middle & 0xffffu);
  return vec2<u32>(a * b, ah * bh + (middle >> 16u) + (cross >> 16u));
}`,
  wide_mul: `fn wide_mul(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return wide_product(a.x, b.x) + vec2<u32>(0u, a.x * b.y + a.y * b.x);
}`,
  wide_eq: `fn wide_eq(a: vec2<u32>, b: vec2<u32>) -> bool {
  return all(a == b);
}`,
  u64_lt: `fn u64_lt(a: vec2<u32>, b: vec2<u32>) -> bool {
  return a.y < b.y || (a.y == b.y && a.x < b.x);
}`,
  i64_lt: `fn i64_lt(a: vec2<u32>, b: vec2<u32>) -> bool {
  return bitcast<i32>(a.y) < bitcast<i32>(b.y) || (a.y == b.y && a.x < b.x);
}`,
  i64_abs: `fn i64_abs(a: vec2<u32>) -> vec2<u32> {
  return select(a, wide_neg(a), a.y >> 31u == 1u);
}`,
  wide_shl: `fn wide_shl(a: vec2<u32>, by: u32) -> vec2<u32> {
  let n = by & 31u;
  let high = (a.y << n) | ((a.x >> 1u) >> (31u - n));
  let near = vec2<u32>(a.x << n, high);
  return select(select(near, vec2<u32>(0u, a.x << n), by >= 32u), vec2<u32>(), by >= 64u);
}`,
  u64_shr: `fn u64_shr(a: vec2<u32>, by: u32) -> vec2<u32> {
  let n = by & 31u;
  let near = vec2<u32>((a.x >> n) | ((a.y << 1u) << (31u - n)), a.y >> n);
  return select(select(near, vec2<u32>(a.y >> n, 0u), by >= 32u), vec2<u32>(), by >= 64u);
}`,
  i64_shr: `fn i64_shr(a: vec2<u32>, by: u32) -> vec2<u32> {
  let fill = vec2<u32>(select(0u, ~0u, a.y >> 31u == 1u));
  return u64_shr(a ^ fill, by) ^ fill;
}`,
  u64_divmod: `fn u64_divmod(a: vec2<u32>, b: vec2<u32>) -> vec4<u32> {
  if (a.y == 0u && b.y == 0u) {
    return vec4<u32>(a.x / b.x, 0u, a.x % b.x, 0u);
  }
  var quotient = vec2<u32>();
  var rest = vec2<u32>();
  for (var i = 63; i >= 0; i--) {
    let carry = rest.y >> 31u;
    rest = vec2<u32>((rest.x << 1u) | (u64_shr(a, u32(i)).x & 1u), (rest.y << 1u) | (rest.x >> 31u));
    if (carry == 1u || !u64_lt(rest, b)) {
      rest = wide_sub(rest, b);
      quotient |= wide_shl(vec2<u32>(1u, 0u), u32(i));
    }
  }
  return vec4<u32>(quotient, rest);
}`,
  u64_div: `fn u64_div(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return select(u64_divmod(a, b).xy, a, all(b == vec2<u32>()));
}`,
  u64_rem: `fn u64_rem(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return select(u64_divmod(a, b).zw, vec2<u32>(), all(b == vec2<u32>()));
}`,
  i64_div: `fn i64_div(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let quotient = u64_divmod(i64_abs(a), i64_abs(b)).xy;
  let signed = select(quotient, wide_neg(quotient), (a.y ^ b.y) >> 31u == 1u);
  return select(signed, a, all(b == vec2<u32>()));
}`,
  i64_rem: `fn i64_rem(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let rest = u64_divmod(i64_abs(a), i64_abs(b)).zw;
  let signed = select(rest, wide_neg(rest), a.y >> 31u == 1u);
  return select(signed, vec2<u32>(), all(b == vec2<u32>()));
}`,
} as const;

export type WideFunction = keyof typeof FUNCTIONS;

/**
 * The declarations of functions of 64-bit integers, and of those that they call, for
 * `ScalarFunction.declarations` and the sources of kernels:
 *
 * - `wide_add`, `wide_sub`, `wide_mul`, `wide_neg`: wrap;
 * - `wide_eq`, `i64_lt`, `u64_lt`: bool;
 * - `i64_abs`;
 * - `wide_shl`, `i64_shr`, `u64_shr` by a u32: 64 and more shift everything out;
 * - `i64_div`, `u64_div` round towards zero, a / 0 is a, -2^63 / -1 is -2^63;
 * - `i64_rem`, `u64_rem` with the sign of a; 0 for b = 0;
 * - `wide_product`: all 64 bits of the product of two u32.
 */
export function wideDeclarations(...names: readonly WideFunction[]): Record<string, string> {
  const found: Record<string, string> = {};
  const add = (name: WideFunction): void => {
    if (name in found) return;
    const text = FUNCTIONS[name];
    found[name] = text;
    for (const other of wideFunctions()) if (text.includes(`${other}(`)) add(other);
  };
  for (const name of names) add(name);
  return found;
}

function wideFunctions(): WideFunction[] {
  return Object.keys(FUNCTIONS).filter((name): name is WideFunction => name in FUNCTIONS);
}
