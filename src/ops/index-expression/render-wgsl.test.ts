import { expect, test } from 'vitest';
import {
  abs,
  add,
  all,
  constant,
  div,
  less,
  mul,
  rem,
  select,
  sub,
  toSigned,
  wrapped,
} from './build.ts';
import type { IndexExpression } from './expression.ts';
import { OPERAND, renderIndex } from './render-wgsl.ts';

const x: IndexExpression<'u32'> = { kind: 'coordinate', axis: 0, type: 'u32' };
const n: IndexExpression<'u32'> = { kind: 'parameter', value: 7, type: 'u32' };
const leaf = ({ kind }: { kind: string }) => (kind === 'coordinate' ? 'x' : 'n');

test.each<[IndexExpression, string]>([
  [sub(sub(x, n), x), 'x - n - x'],
  [sub(x, sub(n, x)), 'x - (n - x)'],
  [add(x, mul(x, n)), 'x + x * n'],
  [mul(add(x, n), n), '(x + n) * n'],
  [rem(div(x, n), n), '(x / n) % n'],
  [div(x, mul(n, n)), 'x / (n * n)'],
  [less(sub(x, n), n), '(x - n) < n'],
  [all([less(x, n)]) ?? x, '(x < n)'],
  [all([less(x, n), less(n, x)]) ?? x, '(x < n) & (n < x)'],
  [select(less(x, n), add(x, n), constant(0, 'u32')), 'select(0u, x + n, x < n)'],
  [add(wrapped(sub(toSigned(x), constant(1, 'i32'))), n), 'bitcast<u32>(i32(x) - 1) + n'],
  [abs(constant(-1, 'i32')), 'abs(-1i)'],
])('%#', (expression, text) => {
  expect(renderIndex(expression, leaf)).toBe(text);
});

test('an operand of what stands around it', () => {
  expect(renderIndex(add(x, n), leaf, OPERAND)).toBe('(x + n)');
  expect(renderIndex(toSigned(x), leaf, OPERAND)).toBe('i32(x)');
});

test('no conditions always hold', () => {
  expect(all([])).toBeUndefined();
});
