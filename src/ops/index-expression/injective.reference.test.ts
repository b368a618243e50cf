import { expect, test } from 'vitest';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { referenceResult } from '../compute-reference.ts';
import { defineOp, type IndexMapContext, type IndexSource } from '../define-op.ts';
import { inferConcreteCall } from '../infer-concrete-call.ts';
import { opReference } from '../tables/references.ts';
import { add, less, sub, ZERO } from './build.ts';

const X = HostTensor.from('float32', [2, 3], [1, 2, 3, 4, 5, 6]);

/** The result of an operator that has an index map and no reference. */
function moved(sources: (context: IndexMapContext) => readonly IndexSource[]): number[] {
  const op = defineOp({
    name: 'moved',
    kind: 'injective',
    inputs: [{ name: 'x', dtypes: ['float32'] }],
    attributes: {},
    infer: ([x]) => ({ dtype: 'float32', shape: x?.shape ?? [] }),
    indexMap: { sources, fill: () => -1 },
    tolerance: { rtol: 0, atol: 0 },
  });
  const call = inferConcreteCall(op, [X], {});
  return Array.from(referenceResult(op, opReference(op), { ...call, inputs: [X] }).data, Number);
}

test('rows in reverse order', () => {
  const mirrored = moved(({ coords: [row = ZERO, column = ZERO], param }) => [
    { input: 0, coords: [row, sub(param(2, 'u32'), column)] },
  ]);
  expect(mirrored).toEqual([3, 2, 1, 6, 5, 4]);
});

test('whole rows, and a condition on them', () => {
  const first = moved(({ coords: [row = ZERO, column = ZERO], param }) => [
    { input: 0, coords: [row, column], when: less(row, param(1, 'u32')) },
  ]);
  expect(first).toEqual([1, 2, 3, -1, -1, -1]);
});

test('a place that depends on several coordinates, and one coordinate in two places', () => {
  const skewed = moved(({ coords: [row = ZERO, column = ZERO], param }) => [
    { input: 0, coords: [row, add(row, column)], when: less(add(row, column), param(3, 'u32')) },
  ]);
  expect(skewed).toEqual([1, 2, 3, 5, 6, -1]);
  const diagonal = moved(({ coords: [row = ZERO] }) => [{ input: 0, coords: [row, row] }]);
  expect(diagonal).toEqual([1, 1, 1, 5, 5, 5]);
});

test('the first source whose condition holds', () => {
  const both = moved(({ coords: [row = ZERO, column = ZERO], param }) => [
    { input: 0, coords: [row, column], when: less(column, param(1, 'u32')) },
    { input: 0, coords: [row, param(0, 'u32')] },
  ]);
  expect(both).toEqual([1, 1, 1, 4, 4, 4]);
});
