import { expect, test } from 'vitest';
import { Tensor } from '../../client/index.ts';
import { sizesOfInputs } from './sizes-of-inputs.ts';

test('sizes of tensors stand for the names of their dimensions', () => {
  const infos = [
    { name: 'x', dtype: 'float32', shape: ['n', 4, '?'] },
    { name: 'steps', dtype: 'int', shape: [] },
  ] as const;
  const x = new Tensor('float32', new Float32Array(24), [2, 4, 3]);
  expect([...sizesOfInputs(infos, { x, steps: 5 })]).toEqual([
    ['n', 2],
    ['?', 3],
  ]);
  expect(sizesOfInputs(infos, {}).size).toBe(0);
});
