import { lanewise } from './lanewise.ts';

/**
 * WGSL allows quotients to be off by 2.5 units in the last place, which would round halves wrongly.
 * The rest of the quotient, computed from halves of the significands whose products are exact
 * (Dekker, "A Floating-Point Technique for Extending the Available Precision", 1971), corrects it.
 */
export const QUOTIENT: Readonly<Record<string, string>> = /* @__PURE__ */ lanewise(
  'quotient',
  `  let d = a / b;
  if (!(abs(d) < 0x1p23f) || d == 0.0) {
    return d;
  }
  let d0 = bitcast<f32>(bitcast<u32>(d) & 0xfffff000u);
  let b0 = bitcast<f32>(bitcast<u32>(b) & 0xfffff000u);
  let d1 = d - d0;
  let b1 = b - b0;
  return d + (a - d0 * b0 - d0 * b1 - d1 * b0 - d1 * b1) / b;`,
  { parameters: ['a', 'b'] },
);
