/** The types of WebAssembly's values; `v128` are 16 bytes that an instruction gives lanes. */
export type ValueType = 'i32' | 'i64' | 'f32' | 'f64' | 'v128';

/** As the binary format writes them. */
export const TYPE_CODES: Readonly<Record<ValueType, number>> = {
  i32: 0x7f,
  i64: 0x7e,
  f32: 0x7d,
  f64: 0x7c,
  v128: 0x7b,
};
