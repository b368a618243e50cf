import { ByteWriter } from './byte-writer.ts';
import type { ValueType } from './value-type.ts';

/** An instruction that takes values and gives one, without immediates but lanes. */
interface Instruction {
  /** Opcode with its prefix, as the binary format has it. */
  readonly code: readonly number[];
  readonly operands: readonly ValueType[];
  readonly result: ValueType;
}

/** A run of opcodes in the order of the specification; `-` skips one. */
interface Run {
  readonly begin: number;
  readonly prefix?: number;
  /** `name` has the operands and the result of the run; `name:result` another result. */
  readonly names: string;
  readonly operands: readonly ValueType[];
  readonly result: ValueType;
}

const of = (count: number, type: ValueType): ValueType[] => new Array<ValueType>(count).fill(type);

const INTEGER_TESTS = 'eq ne lt_s lt_u gt_s gt_u le_s le_u ge_s ge_u';
const FLOAT_TESTS = 'eq ne lt gt le ge';
const INTEGER_UNARY = 'clz ctz popcnt';
const INTEGER_BINARY = 'add sub mul div_s div_u rem_s rem_u and or xor shl shr_s shr_u rotl rotr';
const FLOAT_UNARY = 'abs neg ceil floor trunc nearest sqrt';
const FLOAT_BINARY = 'add sub mul div min max copysign';

const prefixed = (prefix: string, names: string): string =>
  names.replaceAll(/[^ ]+/g, (name) => (name === '-' ? name : `${prefix}.${name}`));

/** The instructions of one scalar type: their first opcodes, for tests, unary and binary ones. */
function scalarRuns(type: 'i32' | 'i64' | 'f32' | 'f64', tests: number, others: number): Run[] {
  const isInteger = type.startsWith('i');
  const [compared, unary, binary] = isInteger
    ? [INTEGER_TESTS, INTEGER_UNARY, INTEGER_BINARY]
    : [FLOAT_TESTS, FLOAT_UNARY, FLOAT_BINARY];
  const run = (begin: number, names: string, count: number, result: ValueType): Run => ({
    begin,
    names: prefixed(type, names),
    operands: of(count, type),
    result,
  });
  const zeroTest = isInteger ? [run(tests, 'eqz', 1, 'i32')] : [];
  return [
    ...zeroTest,
    run(tests + zeroTest.length, compared, 2, 'i32'),
    run(others, unary, 1, type),
    run(others + unary.split(' ').length, binary, 2, type),
  ];
}

const converted = (begin: number, names: string, from: ValueType, prefix?: number): Run => ({
  begin,
  ...(prefix !== undefined && { prefix }),
  names,
  operands: [from],
  result: 'v128',
});

const SCALAR_CONVERSIONS: readonly (readonly [number, string, ValueType, ValueType])[] = [
  [0xa7, 'i32.wrap_i64', 'i64', 'i32'],
  [0xac, 'i64.extend_i32_s i64.extend_i32_u', 'i32', 'i64'],
  [0xb2, 'f32.convert_i32_s f32.convert_i32_u', 'i32', 'f32'],
  [0xb4, 'f32.convert_i64_s f32.convert_i64_u', 'i64', 'f32'],
  [0xb6, 'f32.demote_f64', 'f64', 'f32'],
  [0xb7, 'f64.convert_i32_s f64.convert_i32_u', 'i32', 'f64'],
  [0xb9, 'f64.convert_i64_s f64.convert_i64_u', 'i64', 'f64'],
  [0xbb, 'f64.promote_f32', 'f32', 'f64'],
  [0xbc, 'i32.reinterpret_f32', 'f32', 'i32'],
  [0xbd, 'i64.reinterpret_f64', 'f64', 'i64'],
  [0xbe, 'f32.reinterpret_i32', 'i32', 'f32'],
  [0xbf, 'f64.reinterpret_i64', 'i64', 'f64'],
  [0xc0, 'i32.extend8_s i32.extend16_s', 'i32', 'i32'],
];

const SATURATING: readonly (readonly [number, string, ValueType, ValueType])[] = [
  [0, 'i32.trunc_sat_f32_s i32.trunc_sat_f32_u', 'f32', 'i32'],
  [2, 'i32.trunc_sat_f64_s i32.trunc_sat_f64_u', 'f64', 'i32'],
  [4, 'i64.trunc_sat_f32_s i64.trunc_sat_f32_u', 'f32', 'i64'],
  [6, 'i64.trunc_sat_f64_s i64.trunc_sat_f64_u', 'f64', 'i64'],
];

const SIMD = 0xfd;

/** Of vectors to one, by their number and the first opcode. */
const VECTORS: readonly (readonly [number, number, string])[] = [
  [2, 14, 'i8x16.swizzle'],
  [2, 35, prefixed('i8x16', INTEGER_TESTS)],
  [2, 45, prefixed('i16x8', INTEGER_TESTS)],
  [2, 55, prefixed('i32x4', INTEGER_TESTS)],
  [2, 65, prefixed('f32x4', FLOAT_TESTS)],
  [2, 71, prefixed('f64x2', FLOAT_TESTS)],
  [1, 77, 'v128.not'],
  [2, 78, 'v128.and v128.andnot v128.or v128.xor'],
  [3, 82, 'v128.bitselect'],
  [1, 94, 'f32x4.demote_f64x2_zero f64x2.promote_low_f32x4'],
  [1, 96, prefixed('i8x16', 'abs neg popcnt')],
  [2, 101, 'i8x16.narrow_i16x8_s i8x16.narrow_i16x8_u'],
  [1, 103, prefixed('f32x4', 'ceil floor trunc nearest')],
  [2, 110, prefixed('i8x16', 'add add_sat_s add_sat_u sub sub_sat_s sub_sat_u')],
  [1, 116, 'f64x2.ceil f64x2.floor'],
  [2, 118, prefixed('i8x16', 'min_s min_u max_s max_u')],
  [1, 122, 'f64x2.trunc'],
  [1, 124, 'i16x8.extadd_pairwise_i8x16_s i16x8.extadd_pairwise_i8x16_u'],
  [1, 126, 'i32x4.extadd_pairwise_i16x8_s i32x4.extadd_pairwise_i16x8_u'],
  [1, 128, 'i16x8.abs i16x8.neg'],
  [2, 133, 'i16x8.narrow_i32x4_s i16x8.narrow_i32x4_u'],
  [1, 135, prefixed('i16x8', 'extend_low_i8x16_s extend_high_i8x16_s')],
  [1, 137, prefixed('i16x8', 'extend_low_i8x16_u extend_high_i8x16_u')],
  [2, 142, prefixed('i16x8', 'add add_sat_s add_sat_u sub sub_sat_s sub_sat_u')],
  [1, 148, 'f64x2.nearest'],
  [2, 149, prefixed('i16x8', 'mul min_s min_u max_s max_u')],
  [2, 156, prefixed('i16x8', 'extmul_low_i8x16_s extmul_high_i8x16_s')],
  [2, 158, prefixed('i16x8', 'extmul_low_i8x16_u extmul_high_i8x16_u')],
  [1, 160, 'i32x4.abs i32x4.neg'],
  [1, 167, prefixed('i32x4', 'extend_low_i16x8_s extend_high_i16x8_s')],
  [1, 169, prefixed('i32x4', 'extend_low_i16x8_u extend_high_i16x8_u')],
  [2, 174, 'i32x4.add'],
  [2, 177, 'i32x4.sub'],
  [2, 181, prefixed('i32x4', 'mul min_s min_u max_s max_u dot_i16x8_s')],
  [1, 192, 'i64x2.abs i64x2.neg'],
  [1, 199, prefixed('i64x2', 'extend_low_i32x4_s extend_high_i32x4_s')],
  [1, 201, prefixed('i64x2', 'extend_low_i32x4_u extend_high_i32x4_u')],
  [2, 206, 'i64x2.add'],
  [2, 209, 'i64x2.sub'],
  [2, 213, prefixed('i64x2', 'mul eq ne lt_s gt_s le_s ge_s')],
  [1, 224, 'f32x4.abs f32x4.neg - f32x4.sqrt'],
  [2, 228, prefixed('f32x4', 'add sub mul div min max pmin pmax')],
  [1, 236, 'f64x2.abs f64x2.neg - f64x2.sqrt'],
  [2, 240, prefixed('f64x2', 'add sub mul div min max pmin pmax')],
  [1, 248, 'i32x4.trunc_sat_f32x4_s i32x4.trunc_sat_f32x4_u'],
  [1, 250, 'f32x4.convert_i32x4_s f32x4.convert_i32x4_u'],
  [1, 252, 'i32x4.trunc_sat_f64x2_s_zero i32x4.trunc_sat_f64x2_u_zero'],
  [1, 254, 'f64x2.convert_low_i32x4_s f64x2.convert_low_i32x4_u'],
  // Relaxed SIMD.
  [3, 0x105, 'f32x4.relaxed_madd f32x4.relaxed_nmadd'],
  [2, 0x112, 'i16x8.relaxed_dot_i8x16_i7x16_s'],
  [3, 0x113, 'i32x4.relaxed_dot_i8x16_i7x16_add_s'],
];

/** A vector shifted by an i32. */
const SHIFTS: readonly (readonly [number, string])[] = [
  [107, 'i8x16'],
  [139, 'i16x8'],
  [171, 'i32x4'],
  [203, 'i64x2'],
];

/** A vector's bits as an i32. */
const LANE_TESTS: readonly (readonly [number, string])[] = [
  [83, 'v128.any_true'],
  [99, 'i8x16.all_true i8x16.bitmask'],
  [131, 'i16x8.all_true i16x8.bitmask'],
  [163, 'i32x4.all_true i32x4.bitmask'],
  [195, 'i64x2.all_true i64x2.bitmask'],
];

const SPLATS: readonly (readonly [number, string, ValueType])[] = [
  [15, 'i8x16.splat i16x8.splat i32x4.splat', 'i32'],
  [18, 'i64x2.splat', 'i64'],
  [19, 'f32x4.splat', 'f32'],
  [20, 'f64x2.splat', 'f64'],
];

const RUNS: readonly Run[] = [
  ...scalarRuns('i32', 0x45, 0x67),
  ...scalarRuns('i64', 0x50, 0x79),
  ...scalarRuns('f32', 0x5b, 0x8b),
  ...scalarRuns('f64', 0x61, 0x99),
  ...SCALAR_CONVERSIONS.map(([begin, names, from, to]) => ({
    ...converted(begin, names, from),
    result: to,
  })),
  ...SATURATING.map(([begin, names, from, to]) => ({
    ...converted(begin, names, from, 0xfc),
    result: to,
  })),
  ...VECTORS.map(([count, begin, names]) => ({
    begin,
    prefix: SIMD,
    names,
    operands: of(count, 'v128'),
    result: 'v128' as const,
  })),
  ...SHIFTS.map(
    ([begin, lanes]): Run => ({
      begin,
      prefix: SIMD,
      names: prefixed(lanes, 'shl shr_s shr_u'),
      operands: ['v128', 'i32'],
      result: 'v128',
    }),
  ),
  ...LANE_TESTS.map(
    ([begin, names]): Run => ({
      begin,
      prefix: SIMD,
      names,
      operands: ['v128'],
      result: 'i32',
    }),
  ),
  ...SPLATS.map(([begin, names, from]) => converted(begin, names, from, SIMD)),
];

function* instructionsOf(run: Run): Generator<[string, Instruction]> {
  const { begin, prefix, operands, result } = run;
  for (const [i, name] of run.names.split(' ').entries()) {
    if (name === '-') continue;
    const code = new ByteWriter();
    if (prefix === undefined) code.byte(begin + i);
    else {
      code.byte(prefix);
      code.unsigned(begin + i);
    }
    yield [name, { code: [...code.written()], operands, result }];
  }
}

const BY_NAME: ReadonlyMap<string, Instruction> = new Map(
  RUNS.flatMap((run) => [...instructionsOf(run)]),
);

/** The instruction of a name as the text format has it, such as `f32x4.add`; undefined for no such. */
export function findInstruction(name: string): Instruction | undefined {
  return BY_NAME.get(name);
}

export function instructionNames(): readonly string[] {
  return [...BY_NAME.keys()];
}
