import type { DType } from '../../core/tensor/dtype.ts';
import type { Expression, LoadWidth, StoreWidth } from '../../wasm/expression.ts';
import * as w from '../../wasm/expression.ts';
import { type Statement, store } from '../../wasm/statement.ts';
import type { Lanes } from '../formula/wasm/lanes.ts';

/** Four elements of a dtype in memory, as lanes of 32 bits: see `scalarType`. */
export interface ElementAccess {
  readonly byteLength: number;
  /** Reads four, or the first `count` of them. */
  read(address: Expression, offset: number, count: number): Expression;
  /** Reads one into all lanes. */
  readSplat(address: Expression): Expression;
  /** Writes four, or the first `count` of them; `value` is evaluated more than once for fewer. */
  write(address: Expression, offset: number, lanes: StoredLanes): Statement[];
  /** To the precision or range of the dtype, as a value that is stored and read again. */
  round(value: Expression): Expression;
  /** The bits as they are stored, in the low bits of the lanes. */
  encode(value: Expression): Expression;
  /** The values of stored bits; higher bits of the lanes are ignored. */
  decode(bits: Expression): Expression;
}

interface StoredLanes {
  readonly value: Expression;
  readonly count: number;
}

/** Undefined for dtypes that lanes of 32 bits do not hold, and for those of less than 8 bits. */
export function elementAccess(dtype: DType): ElementAccess | undefined {
  return ACCESS[dtype];
}

/** Four elements of any dtype in lanes, of 32 or of 64 bits. */
export interface LaneAccess {
  readonly byteLength: number;
  read(address: Expression, offset: number, count: number): Lanes;
  readSplat(address: Expression): Lanes;
  write(address: Expression, offset: number, lanes: WrittenLanes): Statement[];
  round(value: Lanes): Lanes;
  encode(value: Lanes): Lanes;
  decode(bits: Lanes): Lanes;
}

interface WrittenLanes {
  readonly value: Lanes;
  readonly count: number;
}

/** Undefined for floats of 8 bits or less. */
export function laneAccess(dtype: DType): LaneAccess | undefined {
  const access = ACCESS[dtype];
  if (access !== undefined) return ofOneVector(access);
  return WIDE_DTYPES.has(dtype) ? WIDE : undefined;
}

const WIDE_DTYPES: ReadonlySet<DType> = new Set<DType>(['float64', 'int64', 'uint64']);

const ofOneVector = (access: ElementAccess): LaneAccess => ({
  byteLength: access.byteLength,
  read: (address, offset, count) => [access.read(address, offset, count)],
  readSplat: (address) => [access.readSplat(address)],
  write: (address, offset, { value: [value = w.i32x4(0)], count }) =>
    access.write(address, offset, { value, count }),
  round: (value) => value.map((part) => access.round(part)),
  encode: (value) => value.map((part) => access.encode(part)),
  decode: (value) => value.map((part) => access.decode(part)),
});

const WIDE: LaneAccess = {
  byteLength: 8,
  read: (address, offset, count) =>
    [0, 16].map((byte) => {
      const elements = count - byte / 8;
      if (elements >= 2) return w.load('v128', address, offset + byte);
      return elements === 1 ? w.load('zero64', address, offset + byte) : w.i32x4(0);
    }),
  readSplat: (address) => [w.load('splat64', address), w.load('splat64', address)],
  write: (address, offset, { value, count }) =>
    value.flatMap((part, i) => {
      const at = { address, offset: offset + i * 16 };
      const elements = count - i * 2;
      if (elements >= 2) return [store('v128', at, part)];
      return elements === 1 ? [store('i64', at, w.lane('i64x2', part, 0))] : [];
    }),
  round: (value) => value,
  encode: (value) => value,
  decode: (value) => value,
};

const bits = (count: number): Expression => ({ kind: 'constant', type: 'i32', value: count });

interface Format {
  readonly byteLength: number;
  readonly scalar: LoadWidth;
  readonly store: StoreWidth;
  /** Four elements at once, as lanes of 32 bits. */
  readonly readFour: (address: Expression, offset: number) => Expression;
  /** Four lanes, as they are stored next to each other. */
  readonly writeFour: (address: Expression, offset: number, value: Expression) => Statement;
  /** Makes an element of the word that was read. */
  readonly decode?: (value: Expression) => Expression;
  readonly encode?: (value: Expression) => Expression;
  readonly round?: (value: Expression) => Expression;
}

const same = (value: Expression): Expression => value;

function accessOf(format: Format): ElementAccess {
  const { byteLength, scalar, decode = same, encode = same, round = same } = format;
  return {
    byteLength,
    read(address, offset, count) {
      if (count === 4) return decode(format.readFour(address, offset));
      let value: Expression = w.i32x4(0);
      for (let index = 0; index < count; index++) {
        const element = w.load(scalar, address, offset + index * byteLength);
        value = w.withLane('i32x4', value, { index, scalar: element });
      }
      return decode(value);
    },
    readSplat: (address) => decode(w.apply('i32x4.splat', w.load(scalar, address))),
    write(address, offset, { value, count }) {
      const encoded = encode(value);
      if (count === 4) return [format.writeFour(address, offset, encoded)];
      return Array.from({ length: count }, (_, index) =>
        store(
          format.store,
          { address, offset: offset + index * byteLength },
          w.lane('i32x4', encoded, index),
        ),
      );
    },
    round,
    encode,
    // Integers of fewer bits than a lane have no encoding but are cut.
    decode: format.decode ?? round,
  };
}

const WORDS: Format = {
  byteLength: 4,
  scalar: 'i32',
  store: 'i32',
  readFour: (address, offset) => w.load('v128', address, offset),
  writeFour: (address, offset, value) => store('v128', { address, offset }, value),
};

/** Low bytes of four lanes, in the first word. */
const LOW_BYTES = [0, 4, 8, 12, ...new Array<number>(12).fill(0)];
/** Low halves of four lanes, in the first two words. */
const LOW_HALVES = [0, 1, 4, 5, 8, 9, 12, 13, ...new Array<number>(8).fill(0)];

function bytes(sign: 's' | 'u'): Format {
  return {
    byteLength: 1,
    scalar: `i8_${sign}`,
    store: 'i8',
    readFour: (address, offset) =>
      w.apply(
        `i32x4.extend_low_i16x8_${sign}`,
        w.apply(`i16x8.extend_low_i8x16_${sign}`, w.load('zero32', address, offset)),
      ),
    writeFour: (address, offset, value) =>
      store('i32', { address, offset }, w.lane('i32x4', w.shuffle(value, value, LOW_BYTES), 0)),
    round: wrapTo(8, sign),
  };
}

function halves(sign: 's' | 'u'): Format {
  return {
    byteLength: 2,
    scalar: `i16_${sign}`,
    store: 'i16',
    readFour: (address, offset) => w.load(`i16x4_${sign}`, address, offset),
    writeFour: (address, offset, value) =>
      store('i64', { address, offset }, w.lane('i64x2', w.shuffle(value, value, LOW_HALVES), 0)),
    round: wrapTo(16, sign),
  };
}

function wrapTo(width: number, sign: 's' | 'u'): (value: Expression) => Expression {
  const shift = bits(32 - width);
  return (value) => w.apply(`i32x4.shr_${sign}`, w.apply('i32x4.shl', value, shift), shift);
}

/** The nearest bfloat16, ties to even, in the low halves. */
function encodeBrain(value: Expression): Expression {
  const isOdd = w.apply('v128.and', w.apply('i32x4.shr_u', value, bits(16)), w.i32x4(1));
  const rounded = w.apply('i32x4.add', w.apply('i32x4.add', value, isOdd), w.i32x4(0x7fff));
  const isNumber = w.apply('f32x4.eq', value, value);
  const kept = w.apply('v128.bitselect', rounded, w.i32x4(0x7fc00000), isNumber);
  return w.apply('i32x4.shr_u', kept, bits(16));
}

const decodeBrain = (value: Expression): Expression => w.apply('i32x4.shl', value, bits(16));

/** The float32 of the lanes' float16: the exponent is moved by a product, which keeps denormals. */
function decodeHalf(value: Expression): Expression {
  const size = w.apply('v128.and', value, w.i32x4(0x7fff));
  const moved = w.apply('i32x4.shl', size, bits(13));
  const finite = w.apply('f32x4.mul', moved, w.f32x4(2 ** 112));
  const special = w.apply('v128.or', moved, w.i32x4(0x7f800000));
  const isFinite = w.apply('i32x4.lt_u', size, w.i32x4(0x7c00));
  const sign = w.apply('i32x4.shl', w.apply('v128.and', value, w.i32x4(0x8000)), bits(16));
  return w.apply('v128.or', w.apply('v128.bitselect', finite, special, isFinite), sign);
}

/** The float16 nearest to the lanes' float32, ties to even, in the low halves. */
function encodeHalf(value: Expression): Expression {
  const size = w.apply('v128.and', value, w.i32x4(0x7fffffff));
  const sign = w.apply('v128.and', w.apply('i32x4.shr_u', value, bits(16)), w.i32x4(0x8000));
  // The sum with 1/2 rounds a denormal to a multiple of 2^-24.
  const denormal = w.apply('i32x4.sub', w.apply('f32x4.add', size, w.f32x4(0.5)), w.f32x4(0.5));
  const isOdd = w.apply('v128.and', w.apply('i32x4.shr_u', size, bits(13)), w.i32x4(1));
  const rounded = w.apply(
    'i32x4.add',
    w.apply('i32x4.add', size, isOdd),
    w.i32x4(0xfff - (112 << 23)),
  );
  const normal = w.apply('i32x4.shr_u', rounded, bits(13));
  const isDenormal = w.apply('i32x4.lt_u', size, w.i32x4(0x38800000));
  const finite = w.apply('v128.bitselect', denormal, normal, isDenormal);
  const isNaN = w.apply('i32x4.gt_u', size, w.i32x4(0x7f800000));
  const special = w.apply('v128.bitselect', w.i32x4(0x7e00), w.i32x4(0x7c00), isNaN);
  const isFinite = w.apply('i32x4.lt_u', size, w.i32x4(0x47800000));
  return w.apply('v128.or', w.apply('v128.bitselect', finite, special, isFinite), sign);
}

const ACCESS: Readonly<Partial<Record<DType, ElementAccess>>> = {
  float32: accessOf(WORDS),
  int32: accessOf(WORDS),
  uint32: accessOf(WORDS),
  bool: accessOf({
    ...WORDS,
    decode: (value) => w.apply('i32x4.ne', value, w.i32x4(0)),
    encode: (value) => w.apply('v128.and', value, w.i32x4(1)),
  }),
  int8: accessOf(bytes('s')),
  uint8: accessOf(bytes('u')),
  int4: accessOf({ ...bytes('s'), round: wrapTo(4, 's') }),
  uint4: accessOf({ ...bytes('u'), round: wrapTo(4, 'u') }),
  int2: accessOf({ ...bytes('s'), round: wrapTo(2, 's') }),
  uint2: accessOf({ ...bytes('u'), round: wrapTo(2, 'u') }),
  int16: accessOf(halves('s')),
  uint16: accessOf(halves('u')),
  float16: accessOf({
    ...halves('u'),
    decode: decodeHalf,
    encode: encodeHalf,
    round: (value) => decodeHalf(encodeHalf(value)),
  }),
  bfloat16: accessOf({
    ...halves('u'),
    decode: decodeBrain,
    encode: encodeBrain,
    round: (value) => decodeBrain(encodeBrain(value)),
  }),
};
