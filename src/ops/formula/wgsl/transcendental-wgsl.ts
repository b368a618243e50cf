import { lanewise } from './lanewise.ts';

type Declarations = Readonly<Record<string, string>>;

/** NaN and infinity have no literals, and constant expressions may not have their bits. */
export const NOT_A_NUMBER: Declarations = {
  nan_f32: `fn nan_f32() -> f32 {
  var bits = 0x7fc00000u;
  return bitcast<f32>(bits);
}`,
};

export const INFINITY: Declarations = {
  inf_f32: `fn inf_f32() -> f32 {
  var bits = 0x7f800000u;
  return bitcast<f32>(bits);
}`,
};

/** Implementations may assume that a value is no NaN, but not what its bits are. */
const NAN_STAYS = '  if ((bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u) { return x; }\n';

const guarded = (name: string, body: string): Declarations => lanewise(name, NAN_STAYS + body);

/**
 * A function of vectors as well as scalars, `T` in its text and `Words` their bits, without branches: an
 * expression and the lines before it.
 */
export function vectorwise(name: string, expression: string, lines = ''): Declarations {
  const body = `${lines}  return select(${expression}, x, is_nan);\n}`;
  const text = (suffix: string, type: string, words: string) =>
    `fn ${name}_f32${suffix}(x: ${type}) -> ${type} {\n` +
    `  let is_nan = (bitcast<${words}>(x) & ${words}(0x7fffffffu)) > ${words}(0x7f800000u);\n` +
    body.replaceAll('T(', `${type}(`).replaceAll('Words', words);
  return {
    [`${name}_f32`]: text('', 'f32', 'u32'),
    [`${name}_f32x4`]: text('x4', 'vec4<f32>', 'vec4<u32>'),
  };
}

export const EXP: Declarations = vectorwise('exp', 'exp(x)');

export const LOG: Declarations = {
  ...NOT_A_NUMBER,
  ...INFINITY,
  ...vectorwise(
    'log',
    'select(select(log(x), T(nan_f32()), x < T()), -T(inf_f32()), is_zero)',
    // Some adapters give -88 of it, which is the logarithm of the least normal number.
    '  let is_zero = (bitcast<Words>(x) & Words(0x7fffffffu)) == Words();\n',
  ),
};

/** Beyond 88 the exponential would overflow to an infinity that WGSL does not promise. */
export const SIGMOID: Declarations = vectorwise('sigmoid', '1.0 / (1.0 + exp(min(-x, T(88.0))))');

/**
 * log(1 + x). Up to 1/2 by the series of the area tangent of x / (2 + x), since 1 + x rounds
 * (DLMF 4.6.4).
 */
export const LOG1P: Declarations = {
  ...NOT_A_NUMBER,
  ...INFINITY,
  ...guarded(
    'log1p',
    `  if (x < -1.0) { return nan_f32(); }
  if (x == -1.0) { return -inf_f32(); }
  if (abs(x) > 0.5) { return log(1.0 + x); }
  let s = x / (2.0 + x);
  let z = s * s;
  return 2.0 * s * (1.0 + z * (0.33333333 + z * (0.2 + z * (0.14285714 + z * (0.11111111 + z * 0.09090909)))));`,
  ),
};

/** Payne and Hanek's reduction keeps as many bits of 2 / pi as the quotient needs. */
const REDUCE_ANGLE: Declarations = {
  mul_wide: `fn mul_wide(a: u32, b: u32) -> vec2<u32> {
  let low = (a & 0xffffu) * (b & 0xffffu);
  let first = (a >> 16u) * (b & 0xffffu) + (low >> 16u);
  let second = (a & 0xffffu) * (b >> 16u) + (first & 0xffffu);
  return vec2<u32>(a * b, (a >> 16u) * (b >> 16u) + (first >> 16u) + (second >> 16u));
}`,
  two_over_pi: `const two_over_pi = array<u32, 8>(0u, 0x28be60dbu, 0x9391054au, 0x7f09d5f4u, 0x7d4d3770u, 0x36d8a566u, 0x4f10e410u, 0x7f9458eau);`,
  Angle: `struct Angle {
  rest: f32,
  quadrant: u32,
}`,
  // The product has 2 bits before the point: the quadrant. What follows is at most half of one.
  reduce_angle: `fn reduce_angle(x: f32) -> Angle {
  if (abs(x) < 0.78539816) { return Angle(x, 0u); }
  let bits = bitcast<u32>(x);
  let mantissa = (bits << 8u) | 0x80000000u;
  let exponent = ((bits >> 23u) & 0xffu) - 126u;
  let table = two_over_pi;
  let word = exponent >> 5u;
  let shift = exponent & 31u;
  var high = table[word];
  var mid = table[word + 1u];
  var low = table[word + 2u];
  if (shift > 0u) {
    high = (high << shift) | (mid >> (32u - shift));
    mid = (mid << shift) | (low >> (32u - shift));
    low = (low << shift) | (table[word + 3u] >> (32u - shift));
  }
  let below = mul_wide(mantissa, low).y;
  let middle = mul_wide(mantissa, mid);
  var p = vec2<u32>(middle.x + below, middle.y + mantissa * high);
  p.y += select(0u, 1u, p.x < below);
  var quadrant = p.y >> 30u;
  p.y &= 0x3fffffffu;
  let is_past_half = (p.y & 0x20000000u) != 0u;
  if (is_past_half) {
    quadrant += 1u;
    p.y = 0x40000000u - p.y - select(0u, 1u, p.x != 0u);
    p.x = ~p.x + 1u;
  }
  var rest = (f32(p.y) * 0x1p-30f + f32(p.x) * 0x1p-62f) * 1.5707963268;
  if (is_past_half != (x < 0.0)) { rest = -rest; }
  return Angle(rest, select(quadrant, ~quadrant + 1u, x < 0.0));
}`,
  // Minimax polynomials on [-pi/4, pi/4], of the Cephes library.
  sine: `fn sine(x: f32) -> f32 {
  let z = x * x;
  return x + x * z * ((-1.9515295891e-4 * z + 8.3321608736e-3) * z - 1.6666654611e-1);
}`,
  cosine: `fn cosine(x: f32) -> f32 {
  let z = x * x;
  return 1.0 - 0.5 * z + z * z * ((2.443315711809948e-5 * z - 1.388731625493765e-3) * z + 4.166664568298827e-2);
}`,
};

const FINITE_ANGLE = `  if ((bitcast<u32>(x) & 0x7f800000u) == 0x7f800000u) { return nan_f32(); }
  let angle = reduce_angle(x);
`;

const angular = (name: string, body: string): Declarations => ({
  ...NOT_A_NUMBER,
  ...REDUCE_ANGLE,
  ...lanewise(name, FINITE_ANGLE + body),
});

/** The quadrant moved by `turn`: the sine of an angle is the cosine of a quadrant less. */
const turned = (turn: string) => `  let q = angle.quadrant + ${turn};
  let value = select(sine(angle.rest), cosine(angle.rest), (q & 1u) == 1u);
  return select(value, -value, (q & 2u) == 2u);`;

export const SIN = angular('sin', turned('0u'));

export const COS = angular('cos', turned('1u'));

export const TAN = angular(
  'tan',
  `  let ratio = sine(angle.rest) / cosine(angle.rest);
  return select(ratio, -1.0 / ratio, (angle.quadrant & 1u) == 1u);`,
);

/** Of the Cephes library: a polynomial up to 1/2, beyond it by the half angle. */
const ARC: Declarations = {
  ...NOT_A_NUMBER,
  arc_sine: `fn arc_sine(x: f32) -> f32 {
  let z = x * x;
  return x + x * z * ((((4.2163199048e-2 * z + 2.4181311049e-2) * z + 4.5470025998e-2) * z + 7.4953002686e-2) * z + 1.6666752422e-1);
}`,
};

export const ASIN: Declarations = {
  ...ARC,
  ...guarded(
    'asin',
    `  let a = abs(x);
  if (a > 1.0) { return nan_f32(); }
  if (a <= 0.5) { return arc_sine(x); }
  let y = 1.5707963268 - 2.0 * arc_sine(sqrt(0.5 * (1.0 - a)));
  return select(y, -y, x < 0.0);`,
  ),
};

export const ACOS: Declarations = {
  ...ARC,
  ...guarded(
    'acos',
    `  let a = abs(x);
  if (a > 1.0) { return nan_f32(); }
  if (a <= 0.5) { return 1.5707963268 - arc_sine(x); }
  let y = 2.0 * arc_sine(sqrt(0.5 * (1.0 - a)));
  return select(y, 3.1415926536 - y, x < 0.0);`,
  ),
};

/** Of the Cephes library: three intervals, on each a polynomial of the reduced argument. */
export const ATAN: Declarations = guarded(
  'atan',
  `  let a = min(abs(x), 0x1p100f);
  var offset = 0.0;
  var t = a;
  if (a > 2.4142135624) {
    offset = 1.5707963268;
    t = -1.0 / a;
  } else if (a > 0.4142135624) {
    offset = 0.7853981634;
    t = (a - 1.0) / (a + 1.0);
  }
  let z = t * t;
  let y = offset + (t + t * z * (((8.05374449538e-2 * z - 1.38776856032e-1) * z + 1.99777106478e-1) * z - 3.33329491539e-1));
  return select(y, -y, x < 0.0);`,
);

/** Half of e^a, which overflows later than e^a. */
const HALF_EXP = '  let half = exp(min(a, 95.0) - 0.69314718);\n';

export const SINH: Declarations = {
  ...INFINITY,
  ...guarded(
    'sinh',
    `  let a = abs(x);
  let z = x * x;
  if (a < 1.0) { return x + x * z * ((2.03721912945e-4 * z + 8.33028376239e-3) * z + 1.66667160211e-1); }
${HALF_EXP}  let y = select(half - 0.25 / half, inf_f32(), a > 89.5);
  return select(y, -y, x < 0.0);`,
  ),
};

export const COSH: Declarations = {
  ...INFINITY,
  ...guarded(
    'cosh',
    `  let a = abs(x);
${HALF_EXP}  return select(half + 0.25 / half, inf_f32(), a > 89.5);`,
  ),
};

export const ASINH: Declarations = {
  ...LOG1P,
  ...guarded(
    'asinh',
    `  let a = abs(x);
  if (a > 0x1p30f) {
    let far = log(a) + 0.69314718;
    return select(far, -far, x < 0.0);
  }
  let y = log1p_f32(a + a * a / (1.0 + sqrt(a * a + 1.0)));
  return select(y, -y, x < 0.0);`,
  ),
};

export const ACOSH: Declarations = {
  ...LOG1P,
  ...guarded(
    'acosh',
    `  if (x < 1.0) { return nan_f32(); }
  if (x > 0x1p30f) { return log(x) + 0.69314718; }
  let t = x - 1.0;
  return log1p_f32(t + sqrt(t * (x + 1.0)));`,
  ),
};

export const ATANH: Declarations = {
  ...LOG1P,
  ...guarded(
    'atanh',
    `  let a = abs(x);
  if (a > 1.0) { return nan_f32(); }
  let y = select(0.5 * log1p_f32(2.0 * a / max(1.0 - a, 0x1p-60f)), inf_f32(), a == 1.0);
  return select(y, -y, x < 0.0);`,
  ),
};
