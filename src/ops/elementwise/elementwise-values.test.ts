import { expect, test } from 'vitest';
import type { DType } from '../../core/tensor/dtype.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { Attributes } from '../../core/contracts/primitive-function.ts';
import { at, callReference } from '../testing/call-reference.ts';
import { KERNEL_FAMILIES } from '../tables/kernel-ops.ts';

// All devices compute by an operator's formula, so that comparing them shows no mistake in it: here JavaScript says
// what it has to give.
type Row = readonly [name: string, of: (...args: number[]) => unknown, dtype?: DType, Attributes?];

const { abs, ceil, exp, floor, log, max, min, pow, sqrt, tanh, trunc } = Math;
const even = (x: number): number => {
  const below = floor(x);
  return x - below < 0.5 || (x - below === 0.5 && below % 2 === 0) ? below : below + 1;
};
/** Abramowitz and Stegun, 7.1.26: off by 1.5e-7 at the most. */
const erf = (x: number): number => {
  const t = 1 / (1 + 0.3275911 * abs(x));
  const sum = [1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592].reduce(
    (rest, factor) => rest * t + factor,
    0,
  );
  return Math.sign(x) * (1 - sum * t * exp(-x * x));
};
const floored = (a: number, b: number): number => a - b * floor(a / b);

const UNARY: readonly Row[] = [
  ['abs', abs],
  ['abs', abs, 'int32'],
  ['neg', (x) => -x],
  ['neg', (x) => -x, 'int32'],
  ['relu', (x) => max(x, 0)],
  ['leaky_relu', (x) => (x < 0 ? x / 4 : x), 'float32', { alpha: 0.25 }],
  ['leaky_relu', (x) => (x < 0 ? x / 100 : x)],
  ['sigmoid', (x) => 1 / (1 + exp(-x))],
  ['tanh', tanh],
  ['exp', exp],
  ['log', log],
  ['sqrt', sqrt],
  ['erf', erf],
  ['gelu', (x) => (x / 2) * (1 + erf(x / sqrt(2)))],
  [
    'gelu',
    (x) => (x / 2) * (1 + tanh(sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))),
    'float32',
    { approximate: 'tanh' },
  ],
  ['floor', floor],
  ['clip', (x) => min(max(x, -1.5), 2), 'float32', { min: -1.5, max: 2 }],
  ['clip', (x) => min(max(x, -2), 1), 'int32', { min: -2, max: 1 }],
  ['ceil', ceil],
  ['round', even],
  ['sign', Math.sign],
  ['sign', Math.sign, 'int32'],
  ['is_nan', Number.isNaN],
  ['is_positive_infinity', (x) => x === Infinity],
  ['sin', Math.sin],
  ['cos', Math.cos],
  ['tan', Math.tan],
  ['asin', Math.asin],
  ['acos', Math.acos],
  ['atan', Math.atan],
  ['sinh', Math.sinh],
  ['cosh', Math.cosh],
  ['asinh', Math.asinh],
  ['acosh', Math.acosh],
  ['atanh', Math.atanh],
  ['log1p', Math.log1p],
  ['bitwise_not', (x) => ~x, 'int32'],
  ['logical_not', (x) => x === 0, 'bool'],
];
const BINARY: readonly Row[] = [
  ['add', (a, b) => a + b],
  ['sub', (a, b) => a - b],
  ['mul', (a, b) => a * b],
  ['div', (a, b) => a / b],
  ['div', (a, b) => trunc(a / b), 'int32'],
  ['pow', pow],
  ['pow', (a, b) => trunc(a ** b), 'int32'],
  ['maximum', max],
  ['minimum', min],
  ['mod', floored],
  ['mod', floored, 'int32'],
  ['mod', (a, b) => a % b, 'uint32'],
  ['mod', (a, b) => a % b, 'float32', { fmod: true }],
  ['mod', (a, b) => a % b, 'int32', { fmod: true }],
  ['bitwise_and', (a, b) => a & b, 'int32'],
  ['bitwise_or', (a, b) => a | b, 'int32'],
  ['bitwise_xor', (a, b) => a ^ b, 'int32'],
  ['shift_left', (a, b) => a * 2 ** b, 'uint32'],
  ['shift_right', (a, b) => a >>> b, 'uint32'],
  ['equal', (a, b) => a === b],
  ['equal', (a, b) => a === b, 'int32'],
  ['less', (a, b) => a < b],
  ['less_equal', (a, b) => a <= b],
  ['greater', (a, b) => a > b],
  ['greater_equal', (a, b) => a >= b, 'int32'],
];

/** Operators with tests of their own: of dtypes, of bits, of random numbers. */
const OTHERS = ['cast', 'bitcast', 'threefry'];

/** Arguments of a dtype: those that are no numbers, or at the edge, only of functions of one. */
function argumentsOf(dtype: DType, count: number): number[] {
  if (dtype === 'bool') return [0, 1];
  if (dtype === 'uint32') return [1, 2, 3, 4, 6, 7, 12];
  if (dtype === 'int32') return [-12, -7, -6, -4, -3, -2, -1, 1, 2, 3, 4, 6, 7];
  const edges = count === 1 ? [NaN, Infinity, -Infinity, 0] : [];
  return [-6, -4, -2.5, -1.5, -0.75, -0.5, 0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 7, ...edges];
}

function check([name, of, dtype = 'float32', attributes]: Row, args: readonly number[]): void {
  const inputs = args.map((value) => HostTensor.from(dtype, [], [value]));
  const got = at(callReference(name, inputs, attributes), 0);
  const wanted = Number(of(...args));
  // A zero has the sign of its operand, or not.
  if (Number.isFinite(wanted)) expect(abs(got - wanted)).toBeLessThan(1e-6 * (1 + abs(wanted)));
  else expect(got).toBe(wanted);
}

const titled = (rows: readonly Row[]) =>
  rows.map((row) => [`${row[0]} ${row[2] ?? ''} ${JSON.stringify(row[3] ?? '')}`, row] as const);

test.each(titled(UNARY))('%s has the values of JavaScript', (_, row) => {
  for (const x of argumentsOf(row[2] ?? 'float32', 1)) check(row, [x]);
});

test.each(titled(BINARY))('%s has the values of JavaScript', (_, row) => {
  const values = argumentsOf(row[2] ?? 'float32', 2);
  for (const a of values) for (const b of values) check(row, [a, b]);
});

test('where chooses the second operand where its condition holds, else the third', () => {
  const condition = HostTensor.from('bool', [2], [1, 0]);
  const [x, y] = [HostTensor.from('int32', [], [5]), HostTensor.from('int32', [], [9])];
  const chosen = callReference('where', [condition, x, y]);
  expect([at(chosen, 0), at(chosen, 1)]).toEqual([5, 9]);
});

test('no operator is missing', () => {
  const names = new Set([...UNARY, ...BINARY].map(([name]) => name));
  const rest = KERNEL_FAMILIES.elementwise
    .map(({ name }) => name)
    .filter((name) => !names.has(name));
  expect(rest.toSorted()).toEqual([...OTHERS, 'where'].toSorted());
});
