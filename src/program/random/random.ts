import type { Dim } from '../../core/dims/dim.ts';
import type { OptionKind } from '../../core/check-options.ts';
import { ShapeError, UsageError } from '../../core/errors.ts';
import { formatType } from '../../compiler/ir/type.ts';
import { apply } from '../apply.ts';
import type { ArrayState } from '../array-state.ts';
import { siteOr, within } from '../call-site.ts';
import { array, type NdArray } from '../nd-array.ts';
import { type Operand, stateOf } from '../operand.ts';
import { draw, type Range } from './draw.ts';

const word = (value: number): ArrayState => stateOf(value, 'uint32');

/** The number of each element of an array of a shape, counted row by row, uint32. */
function elementNumbers(shape: readonly Dim[]): ArrayState {
  let numbers = apply('full', [], { shape: [], value: 0, dtype: 'uint32' });
  for (const [axis, size] of shape.entries()) {
    const along = apply('arange', [], { start: [0], size: [size] });
    const column = apply('reshape', [numbers], { shape: [...shape.slice(0, axis), 1] });
    const whole = apply('mul', [column, sizeWord(size)]);
    numbers = apply('add', [whole, apply('cast', [along], { to: 'uint32' })]);
  }
  return numbers;
}

function sizeWord(size: Dim): ArrayState {
  if (typeof size === 'number') return word(size);
  const sizes = apply('dims_tensor', [], { dims: [size] });
  return apply('cast', [sizes], { to: 'uint32' });
}

/** Coefficients of the polynomials, from the highest power: NEAR below 5, FAR from 5 on. */
const NEAR = [
  2.81022636e-8, 3.43273939e-7, -3.5233877e-6, -4.39150654e-6, 0.00021858087, -0.00125372503,
  -0.00417768164, 0.246640727, 1.50140941,
];
const FAR = [
  -0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613,
  0.00943887047, 1.00167406, 2.83297682,
];

/**
 * The inverse of the error function between -1 and 1, in float32 (Giles 2012, "Approximating the erfinv function").
 */
function inverseErf(x: ArrayState): ArrayState {
  const w = apply('neg', [apply('log1p', [apply('neg', [apply('mul', [x, x])])])]);
  const near = polynomial(NEAR, apply('sub', [w, 2.5]));
  // Of both, the one that is not taken has to be finite, for derivatives.
  const far = polynomial(FAR, apply('sub', [apply('sqrt', [apply('maximum', [w, 5])]), 3]));
  return apply('mul', [apply('where', [apply('less', [w, 5]), near, far]), x]);
}

function polynomial([first = 0, ...rest]: readonly number[], at: ArrayState): ArrayState {
  const [second = 0, ...others] = rest;
  const start = apply('add', [apply('mul', [at, first]), second]);
  return others.reduce((sum, factor) => apply('add', [apply('mul', [sum, at]), factor]), start);
}

export type { Range };

/**
 * A key of random numbers, for a seed: two words, an array of uint32 of shape (2,). What a key gives is always the same,
 * on every device; {@link split} makes further keys. Keys are values as others are: arguments and results of programs.
 */
export function key(seed: number | bigint): NdArray {
  return within(key, () => {
    const isWhole = typeof seed === 'bigint' || Number.isSafeInteger(seed);
    const whole = isWhole ? BigInt(seed) : 2n ** 64n;
    const words = BigInt.asUintN(64, whole);
    if (words !== whole && BigInt.asIntN(64, whole) !== whole) {
      const where = siteOr('key');
      throw new UsageError({ where, got: `the seed ${seed}`, expected: 'an integer of 64 bits' });
    }
    return array(new Uint32Array([Number(words >> 32n), Number(words & 0xffff_ffffn)]));
  }, ['random.key', arguments, 1]);
}

/** Keys that have nothing to do with each other, nor with what the key itself gives: uint32 of shape (count, 2). */
export function split(from: Operand, count: Dim = 2): NdArray {
  return draw(split, arguments, {
    operands: () => [keyOf(from)],
    settings: { count },
    write: ([own]) => keysOf(own, count),
  });
}

/** A key for a number, such as that of a step: other numbers give other keys. */
export function foldIn(from: Operand, data: Operand): NdArray {
  return draw(foldIn, arguments, {
    operands: () => [keyOf(from), stateOf(data, 'uint32')],
    write: ([own, number]) => {
      const low = apply('cast', [number], { to: 'uint32' });
      const words = threefryOf(wordsOf(own), low);
      const column = words.map((word) => apply('reshape', [word], { shape: [1] }));
      return apply('concat', column, { axis: 0 });
    },
  });
}

/** Random words: uint32 of a shape. */
export function bits(from: Operand, shape: readonly Dim[] = []): NdArray {
  return draw(bits, arguments, {
    operands: () => [keyOf(from)],
    settings: { shape },
    write: ([own]) => bitsOf(own, shape),
  });
}

/** Numbers from `min` up to `max`, without `max`: float32, in steps of 2^-23 of the interval. */
export function uniform(from: Operand, shape: readonly Dim[] = [], range: Range = {}): NdArray {
  const { min = 0, max = 1 } = Object(range) as Range;
  return draw(uniform, arguments, {
    operands: () => [keyOf(from)],
    range,
    settings: { shape, min, max },
    write: ([own]) => uniformOf(own, shape, { min, max }),
  });
}

/** Normally distributed numbers, of mean 0 and variance 1: float32. */
export function normal(from: Operand, shape: readonly Dim[] = []): NdArray {
  return draw(normal, arguments, {
    operands: () => [keyOf(from)],
    settings: { shape },
    write: ([own]) => {
      const between = uniformOf(own, shape, { min: -1 + 2 ** -24, max: 1 });
      return apply('mul', [inverseErf(between), Math.SQRT2]);
    },
  });
}

/** Integers from `min` up to `max`, without `max`: int32. */
export function integers(
  from: Operand,
  shape: readonly Dim[],
  range: Range & { readonly max: number },
): NdArray {
  const { min = 0, max } = Object(range) as typeof range;
  const span = max - min;
  return draw(integers, arguments, {
    operands: () => [keyOf(from)],
    range,
    settings: { shape, min, max },
    write: ([own]) => {
      const isHeld = (min | 0) === min && ((max - 1) | 0) === max - 1;
      if (!(isHeld && span > 0 && span < 2 ** 31)) {
        const where = siteOr('integers');
        const expected = 'integers of int32, the first one less, by less than 2^31';
        throw new UsageError({ where, got: `from ${min} to ${max}`, expected });
      }
      const offset = below(own, shape, span);
      const signed = apply('cast', [offset], { to: 'int32' });
      return apply('add', [signed, stateOf(min, 'int32')]);
    },
  });
}

/** True with a probability: bool. */
export function bernoulli(
  from: Operand,
  shape: readonly Dim[] = [],
  probability: Operand = 0.5,
): NdArray {
  return draw(bernoulli, arguments, {
    operands: () => [keyOf(from), stateOf(probability, 'float32')],
    elements: ['a probability of', PROBABILITY],
    settings: { shape },
    write: ([own, limit]) => apply('less', [uniformOf(own, shape, UNIT), limit]),
  });
}

/** Numbers of the exponential distribution of rate 1: float32. */
export function exponential(from: Operand, shape: readonly Dim[] = []): NdArray {
  return draw(exponential, arguments, {
    operands: () => [keyOf(from)],
    settings: { shape },
    write: ([own]) => apply('neg', [apply('log1p', [apply('neg', [uniformOf(own, shape, UNIT)])])]),
  });
}

/** Numbers of the standard Gumbel distribution: float32. */
export function gumbel(from: Operand, shape: readonly Dim[] = []): NdArray {
  return draw(gumbel, arguments, {
    operands: () => [keyOf(from)],
    settings: { shape },
    write: ([own]) => gumbelOf(own, shape),
  });
}

/**
 * Places along the last axis, drawn with probabilities in proportion to e to the power of the logits: int64, of the
 * shape of the logits without that axis.
 */
export function categorical(from: Operand, logits: Operand): NdArray {
  return draw(categorical, arguments, {
    operands: () => [keyOf(from), stateOf(logits, 'float32')],
    elements: ['a logit of', 'number'],
    write: ([own, given]) => {
      const noise = gumbelOf(own, given?.type.shape ?? []);
      const drawn = apply('arg_max', [apply('add', [noise, given])], { axis: -1 });
      return apply('reshape', [drawn], { shape: drawn.type.shape.slice(0, -1) });
    },
  });
}

/** The integers from 0 up to a size, in random order: int64. */
export function permutation(from: Operand, size: Dim): NdArray {
  return draw(permutation, arguments, {
    operands: () => [keyOf(from)],
    settings: { size },
    write: ([own]) => apply('top_k', [bitsOf(own, [size])], { k: [size], axis: 0 }),
  });
}

const PROBABILITY: OptionKind = [
  'a number from 0 to 1',
  (value) => Number(value) >= 0 && Number(value) <= 1,
];
const UNIT: Required<Range> = { min: 0, max: 1 };

function gumbelOf(from: ArrayState | undefined, shape: readonly Dim[]): ArrayState {
  const positive = uniformOf(from, shape, { min: 2 ** -126, max: 1 });
  return apply('neg', [apply('log', [apply('neg', [apply('log', [positive])])])]);
}

function uniformOf(
  from: ArrayState | undefined,
  shape: readonly Dim[],
  { min, max }: Required<Range>,
): ArrayState {
  const upper = apply('shift_right', [bitsOf(from, shape), stateOf(9, 'uint32')]);
  const unit = apply('mul', [apply('cast', [upper], { to: 'float32' }), 2 ** -23]);
  if (min === 0 && max === 1) return unit;
  // In float32 the sum may be rounded to below the least number.
  const moved = apply('add', [apply('mul', [unit, Math.fround(max - min)]), min]);
  return apply('maximum', [moved, min]);
}

/** Integers below a span, of two words each, as jax.random draws them. */
function below(from: ArrayState | undefined, shape: readonly Dim[], span: number): ArrayState {
  const word = (value: number): ArrayState => stateOf(value, 'uint32');
  const keys = keysOf(from, 2);
  const [upper, lower] = [0, 1].map((index) => {
    const row = apply('slice', [keys], { starts: [index, 0], ends: [index + 1, 2] });
    const own = apply('reshape', [row], { shape: [2] });
    return apply('mod', [bitsOf(own, shape), word(span)]);
  });
  const half = BigInt(2 ** 16 % span);
  const factor = Number(BigInt.asUintN(32, half * half) % BigInt(span));
  const sum = apply('add', [apply('mul', [upper, word(factor)]), lower]);
  return apply('mod', [sum, word(span)]);
}

function keysOf(from: ArrayState | undefined, count: Dim): ArrayState {
  const columns = hash(from, elementNumbers([count])).map((word) =>
    apply('reshape', [word], { shape: [count, 1] }),
  );
  return apply('concat', columns, { axis: 1 });
}

function bitsOf(from: ArrayState | undefined, shape: readonly Dim[]): ArrayState {
  return apply('bitwise_xor', hash(from, elementNumbers(shape)));
}

function hash(
  from: ArrayState | undefined,
  counter: ArrayState,
): readonly [ArrayState, ArrayState] {
  return threefryOf(wordsOf(from), counter);
}

/** Both words for the counter (0, `counter`). */
function threefryOf(
  [first, second]: readonly [ArrayState, ArrayState],
  counter: ArrayState,
): readonly [ArrayState, ArrayState] {
  const zero = stateOf(0, 'uint32');
  const word = (isSecond: boolean): ArrayState =>
    apply('threefry', [first, second, zero, counter], { second: isSecond });
  return [word(false), word(true)];
}

/** Slices the two words of a key. */
function wordsOf(from: ArrayState | undefined): readonly [ArrayState, ArrayState] {
  const word = (index: number): ArrayState => {
    const part = apply('slice', [from], { starts: [index], ends: [index + 1] });
    return apply('reshape', [part], { shape: [] });
  };
  return [word(0), word(1)];
}

/** The array of a key. Throws ShapeError for another one. */
function keyOf(from: Operand): ArrayState {
  const state = stateOf(from, 'uint32');
  const { dtype, shape } = state.type;
  if (dtype === 'uint32' && shape.length === 1 && shape[0] === 2) return state;
  throw new ShapeError({
    where: siteOr('random'),
    got: formatType(state.type),
    expected: 'a key, Tensor[(2,), uint32]',
    remedy: 'random.key makes one of a seed, random.split several of a key, one in each row.',
  });
}
