import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../../core/random.ts';
import { encodeModule } from '../../../wasm/encode-module.ts';
import { apply, type Expression, i32, load, local } from '../../../wasm/expression.ts';
import { binder, loop, type Statement, store } from '../../../wasm/statement.ts';
import type { IntrinsicName } from '../expression.ts';
import { HOST_INTRINSICS } from '../host/node-function.ts';
import { DOUBLE_FUNCTIONS, DOUBLE_INTRINSICS } from './double-intrinsics.ts';
import { type Intrinsic, INTRINSICS } from './wasm-intrinsics.ts';

type Compute = (
  operands: readonly Expression[],
  bind: (value: Expression) => Expression,
  statements: Statement[],
) => Expression;

/** Runs a function of vectors over operands, which lie one behind the other. */
function run<T extends Float32Array | Float64Array>(compute: Compute, operands: readonly T[]): T {
  const [first] = operands;
  if (first === undefined) throw new Error('no operands');
  const { byteLength } = first;
  const at = local('i32');
  const statements: Statement[] = [];
  const bind = binder(statements);
  const read = operands.map((_, i) => bind(load('v128', at, i * byteLength)));
  const value = compute(read, bind, statements);
  const body = loop({ index: at, end: i32(byteLength), step: 16 }, [
    ...statements,
    store('v128', { address: apply('i32.add', at, i32(operands.length * byteLength)) }, value),
  ]);
  const pages = Math.ceil(((operands.length + 1) * byteLength) / 65_536);
  const memory = new WebAssembly.Memory({ initial: pages });
  for (const [i, operand] of operands.entries()) {
    new Uint8Array(memory.buffer).set(new Uint8Array(operand.buffer), i * byteLength);
  }
  const bytes = encodeModule({ groups: [[{ name: 'main', params: [], body }]] });
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: { memory } });
  const main = exports['0'];
  if (typeof main !== 'function') throw new Error('no main');
  main();
  const result = memory.buffer.slice(
    operands.length * byteLength,
    (operands.length + 1) * byteLength,
  );
  return (first instanceof Float32Array ? new Float32Array(result) : new Float64Array(result)) as T;
}

/** Floats of all signs and exponents, special ones among them. */
function allFloats(): Float32Array<ArrayBuffer> {
  const words = Uint32Array.from({ length: 2 ** 18 }, (_, i) => i * 16_381);
  return new Float32Array(words.buffer);
}

/** The distance of neighbours among floats of 24 or 53 bits. */
function unitOf(value: number, digits: number): number {
  const least = digits === 24 ? -126 : -1022;
  const exponent = value === 0 ? least : Math.max(Math.floor(Math.log2(Math.abs(value))), least);
  return 2 ** (exponent - digits + 1);
}

interface Errors {
  /** The largest error in units in the last place. */
  readonly largest: number;
  /** The operands of a result that is not what it has to be: NaN, an infinity, another sign. */
  readonly wrong: readonly string[];
}

function errorsOf(
  results: ArrayLike<number>,
  operands: readonly ArrayLike<number>[],
  exact: (a: number, b: number) => number,
): Errors {
  const digits = results instanceof Float32Array ? 24 : 53;
  const rounded = digits === 24 ? Math.fround : (x: number) => x;
  const [first = [], second = []] = operands;
  let largest = 0;
  const wrong: string[] = [];
  for (let i = 0; i < results.length; i++) {
    const [a = 0, b = 0, actual = 0] = [first[i], second[i], results[i]];
    const expected = exact(a, b);
    const nearest = rounded(expected);
    if (Object.is(actual, nearest)) continue;
    const isOrdinary = Number.isFinite(actual) && Number.isFinite(nearest);
    // An infinity is one unit away from the largest number.
    const isEdge = Math.abs(nearest) > 3.4e38 && Math.abs(actual) > 3.4e38 && digits === 24;
    if (isEdge && Math.sign(nearest) === Math.sign(actual)) continue;
    if (!isOrdinary || (nearest === 0 && actual === 0)) {
      wrong.push(`${a} ${b}: ${actual}, not ${nearest}`);
    } else {
      largest = Math.max(largest, Math.abs(actual - expected) / unitOf(nearest, digits));
    }
  }
  return { largest, wrong: wrong.slice(0, 5) };
}

/** Of what is rounded to nearest, but where double precision lies on the wrong side of a tie. */
const NEAREST = 0.501;

/** Most units in the last place that a result is off. */
const LIMITS: Readonly<Record<IntrinsicName, number>> = {
  exp: 1,
  log: 1,
  log1p: NEAREST,
  sigmoid: 3,
  erf: 2,
  sin: NEAREST,
  cos: NEAREST,
  tan: NEAREST,
  asin: NEAREST,
  acos: NEAREST,
  atan: NEAREST,
  sinh: NEAREST,
  cosh: NEAREST,
  tanh: 5,
  asinh: NEAREST,
  acosh: NEAREST,
  atanh: NEAREST,
  pow: NEAREST,
  quotient: 0,
};

const ALL: Readonly<Record<IntrinsicName, Intrinsic>> = { ...INTRINSICS, ...DOUBLE_INTRINSICS };
const NAMES = Object.keys(ALL) as IntrinsicName[];
/** In double precision; the host's sigmoid overflows where this does not. */
function exactly(name: IntrinsicName): (a: number, b: number) => number {
  if (name !== 'sigmoid') return HOST_INTRINSICS[name].float;
  return (x) => (x < 0 ? Math.exp(x) : 1) / (1 + Math.exp(-Math.abs(x)));
}

const isBinary = (name: string): boolean => name === 'pow' || name === 'quotient';

describe('four lanes of float32', () => {
  test.each(NAMES)('%s is within its limit for all numbers', (name) => {
    const operands = isBinary(name) ? pairs() : [allFloats()];
    const errors = errorsOf(run(ALL[name], operands), operands, exactly(name));
    expect(errors.wrong).toEqual([]);
    expect(errors.largest).toBeLessThanOrEqual(LIMITS[name]);
  });
});

/** Pairs of numbers of all sizes, and of some whose power is a number. */
function pairs(): Float32Array<ArrayBuffer>[] {
  const random = seededRandom(7);
  const special = [0, -0, 1, -1, 2, -2, 0.5, -0.5, 3, -3, Infinity, -Infinity, NaN, 1e-45, 3e38];
  const all = special.flatMap((a) => special.map((b) => [a, b] as const));
  for (let i = 0; i < 200_000; i++) {
    const a = Math.exp((random() - 0.5) * 40) * (random() < 0.3 ? -1 : 1);
    const b = (random() - 0.5) * (random() < 0.5 ? 10 : 100);
    all.push([a, random() < 0.4 ? Math.round(b) : b]);
  }
  while (all.length % 4 !== 0) all.push([1, 1]);
  return [0, 1].map((k) => Float32Array.from(all, (pair) => pair[k] ?? 0));
}

/** Numbers of moderate size, and special ones. */
function doubles(): Float64Array<ArrayBuffer> {
  const random = seededRandom(9);
  const special = [0, -0, 1, -1, Infinity, -Infinity, NaN, 5e-324, 1e-310, 1e308, -1e308, 0.5, 2];
  const many = Array.from({ length: 200_000 }, (_, i) => {
    const size = i % 3 === 0 ? Math.exp((random() - 0.5) * 80) : random() * (i % 3 === 1 ? 1 : 40);
    return random() < 0.5 ? size : -size;
  });
  return Float64Array.from([...special, ...many, 0]);
}

const DOUBLE_LIMITS: Readonly<Record<keyof typeof DOUBLE_FUNCTIONS, number>> = {
  exp: 2,
  log: 1,
  log1p: 3,
  sigmoid: 3,
  tanh: 4,
  asin: 3,
  acos: 3,
  atan: 2,
  sinh: 4,
  cosh: 4,
  asinh: 4,
  acosh: 4,
  atanh: 4,
  // Of powers up to e^700.
  pow: 2000,
};

describe('two lanes of float64', () => {
  test.each(Object.keys(DOUBLE_FUNCTIONS) as (keyof typeof DOUBLE_FUNCTIONS)[])(
    '%s is within its limit',
    (name) => {
      const operands = isBinary(name) ? pairs().map((x) => Float64Array.from(x)) : [doubles()];
      const results = run(DOUBLE_FUNCTIONS[name], operands);
      const errors = errorsOf(results, operands, exactly(name));
      expect(errors.wrong).toEqual([]);
      expect(errors.largest).toBeLessThanOrEqual(DOUBLE_LIMITS[name]);
    },
  );
});
