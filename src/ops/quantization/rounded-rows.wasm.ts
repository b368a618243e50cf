import { FLOAT, times } from '../../wasm/address.ts';
import type { Expression } from '../../wasm/expression.ts';
import * as w from '../../wasm/expression.ts';
import type { Bind, Statement, WasmFunction } from '../../wasm/statement.ts';
import * as s from '../../wasm/statement.ts';
import type { Codes } from './nbits-codes.wasm.ts';

/** How elements of a row are rounded, each block with a scale of its own. */
export interface Rounding {
  /** Bytes of an element: 1 for instructions of relaxed SIMD, else 2. */
  readonly bytes: 1 | 2;
  /** The largest magnitude of an integer, that of the largest element of a block. */
  readonly most: number;
}

/**
 * Codes below 16 are the operand of 7 bits of a product of bytes, which relaxed SIMD has: every engine gives the same sums then.
 * Others are products of 16 bits, for which elements may as well have 14 bits and a sign: with 512 codes of 8 bits sums
 * still fit.
 */
export const BYTES: Rounding = { bytes: 1, most: 127 };
export const WORDS: Rounding = { bytes: 2, most: 2 ** 14 - 1 };
/** Bytes of codes that are read together. */
export const CHUNK = 16;
/** Of each block of a row: its scale, what the sum of it adds for half of the range of codes, its sum times the scale. */
export const BLOCK_FACTS = 12;

/** A problem with its rounding, and how far rows are from each other. */
export interface RoundedCodes extends Codes {
  readonly rounding: Rounding;
  readonly rowBytes: number;
  readonly factBytes: number;
}

/**
 * `round(a, to, facts)`: a row as integers, of each chunk of codes the elements of the lowest bits of its bytes first, and the
 * facts of its blocks. What is not finite makes its block's scale so.
 */
export function roundFunction({
  blocks,
  blockSize,
  bits,
  each,
  rounding,
}: RoundedCodes): WasmFunction {
  const [a, to, facts, block, sum] = w.locals(5);
  const [most, inverse, scale] = w.locals(3, 'f32');
  const [factor, added] = [w.local('v128'), w.local('v128')];
  const vectors = blockSize / 4;
  const element = (i: number): Expression => w.load('v128', a, i * 16);
  const absolute = (i: number): Expression => w.apply('f32x4.abs', element(i));
  const largest = Array.from({ length: vectors }, (_, i) => absolute(i)).reduce((x, y) =>
    w.apply('f32x4.max', x, y),
  );
  const largestOfFour = w.local('v128');
  const convert: Statement[] = [];
  const bind = s.binder(convert);
  const integers = Array.from({ length: vectors }, (_, i) =>
    bind(
      w.apply(
        'i32x4.trunc_sat_f32x4_s',
        w.apply('f32x4.nearest', w.apply('f32x4.mul', element(i), factor)),
      ),
    ),
  );
  const words = Array.from({ length: vectors / 2 }, (_, i) => {
    const [left = w.i32x4(0), right = w.i32x4(0)] = integers.slice(2 * i);
    return bind(w.apply('i16x8.narrow_i32x4_s', left, right));
  });
  const chunkElements = CHUNK * each;
  const stored = Array.from({ length: blockSize / chunkElements }, (_, chunk) =>
    ordered(words.slice((chunk * chunkElements) / 8, ((chunk + 1) * chunkElements) / 8), {
      each,
      rounding,
      bind,
    }),
  ).flat();
  return {
    name: 'round',
    params: [a, to, facts],
    body: s.loop({ index: block, end: w.i32(blocks) }, [
      s.set(largestOfFour, largest),
      s.set(most, acrossLanes('f32x4', 'f32.max', largestOfFour)),
      s.set(scale, w.apply('f32.mul', most, w.f32(1 / rounding.most))),
      s.set(
        inverse,
        w.select(
          w.apply('f32.gt', most, w.f32(0)),
          w.apply('f32.div', w.f32(rounding.most), most),
          w.f32(0),
        ),
      ),
      s.set(factor, w.apply('f32x4.splat', inverse)),
      ...convert,
      s.set(
        added,
        integers.reduce((x, y) => w.apply('i32x4.add', x, y)),
      ),
      s.set(sum, acrossLanes('i32x4', 'i32.add', added)),
      ...stored.map((value, i) => s.store('v128', { address: to, offset: i * 16 }, value)),
      s.store('f32', { address: facts }, scale),
      s.store('i32', { address: facts, offset: 4 }, times(sum, -(2 ** (bits - 1)))),
      s.store(
        'f32',
        { address: facts, offset: 8 },
        w.apply('f32.mul', scale, w.apply('f32.convert_i32_s', sum)),
      ),
      s.increment(a, blockSize * FLOAT),
      s.increment(to, blockSize * rounding.bytes),
      s.increment(facts, BLOCK_FACTS),
    ]),
  };
}

/** The elements of a chunk, words in their order, in the order in which codes are unpacked. */
function ordered(
  words: readonly Expression[],
  { each, rounding, bind }: Pick<RoundedCodes, 'each' | 'rounding'> & { readonly bind: Bind },
): Expression[] {
  const pairs = (values: readonly Expression[]): [Expression, Expression][] =>
    Array.from({ length: values.length / 2 }, (_, i) => [
      values[2 * i] ?? w.i32x4(0),
      values[2 * i + 1] ?? w.i32x4(0),
    ]);
  const given =
    rounding.bytes === 2
      ? words
      : pairs(words).map(([x, y]) => bind(w.apply('i8x16.narrow_i16x8_s', x, y)));
  if (each === 1) return [...given];
  // Of two vectors the elements at even places, then of all those at odd ones.
  return [0, 1].flatMap((slot) =>
    pairs(given).map(([x, y]) => w.shuffle(x, y, everySecond(slot, rounding.bytes))),
  );
}

/** Which bytes of two vectors are elements at even or odd places. */
const everySecond = (slot: number, bytes: number): number[] =>
  Array.from({ length: 16 }, (_, i) => (2 * Math.floor(i / bytes) + slot) * bytes + (i % bytes));

/** The lanes of a vector joined. */
export function acrossLanes(
  shape: 'f32x4' | 'i32x4',
  join: 'f32.max' | 'f32.add' | 'i32.add',
  value: Expression,
): Expression {
  const [a, b, c, d] = [0, 1, 2, 3].map((index) => w.lane(shape, value, index));
  return a && b && c && d ? w.apply(join, w.apply(join, a, b), w.apply(join, c, d)) : value;
}
