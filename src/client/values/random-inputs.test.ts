import { expect, test } from 'vitest';
import { Tensor, type ValueInfo } from '../index.ts';
import { seededRandom } from '../../core/random.ts';
import { numbersToChoose, randomInputs } from './random-inputs.ts';

const INPUTS: ValueInfo[] = [
  { name: 'x', dtype: 'float32', shape: ['n', 3] },
  { name: 'ids', dtype: 'int64', shape: ['n'] },
  { name: 'mask', dtype: 'bool', shape: [2] },
  { name: 'steps', dtype: 'int', shape: [] },
];

test('asks for named dimensions and plain numbers, once each', () => {
  expect(numbersToChoose(INPUTS)).toEqual(['n', 'steps']);
});

test('makes inputs of the right types and shapes', () => {
  const chosen = new Map([
    ['n', 2],
    ['steps', 7],
  ]);
  const inputs = randomInputs(INPUTS, chosen, seededRandom(1));
  const types = Object.values(inputs).map((input) =>
    input instanceof Tensor ? `${input.dtype} [${input.shape.join(', ')}]` : input,
  );
  expect(types).toEqual(['float32 [2, 3]', 'int64 [2]', 'bool [2]', 7]);
});

test('says which input has no random value', () => {
  const info: ValueInfo = { name: 'list', dtype: 'any', shape: [] };
  expect(() => randomInputs([info], new Map(), Math.random)).toThrowErrorMatchingInlineSnapshot(
    `[Error: The input "list" can be anything, so no random value is made for it.]`,
  );
});
