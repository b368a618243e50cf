import { expect, test } from 'vitest';
import { reluModel } from '../../testing/relu-model.ts';
import { compileWithHistory } from './compile-with-history.ts';

const TEXT = `def @main(%x: Tensor[(4), float32]) -> Tensor[(4), float32] {
  let %once = add(%x, %x);
  let %zero = mul(%once, 1f);
  tanh(%zero)
}
`;

test('a text is kept as it is behind each pass, with what the pass changed', async () => {
  const history = await compileWithHistory(TEXT, { file: 'net.ir' });
  const { steps } = history;
  expect(steps[0]).toEqual({ pass: 'source', milliseconds: 0, isChanged: true });
  expect(
    history
      .linesAfter(0)
      .map(({ text }) => text)
      .join('\n'),
  ).toContain('%once = add(%x, %x)');
  const fuse = steps.findIndex(({ pass }) => pass === 'fuse');
  expect(steps[fuse]).toMatchObject({ isChanged: true });
  const difference = history.differenceOf(fuse);
  expect(difference.some(({ sign, text }) => sign === '+' && text.includes('primitive='))).toBe(
    true,
  );
  const taken = difference.find(({ sign, text }) => sign === '-' && text.includes('tanh('));
  expect(taken?.place).toBe('net.ir:4:3');
  const same = steps.findIndex(({ isChanged }) => !isChanged);
  expect(history.differenceOf(same)).toEqual([]);
  expect(history.linesAfter(same)).toBe(history.linesAfter(same - 1));
});

test('lines of a model know their node', async () => {
  const history = await compileWithHistory(reluModel(), { file: '' });
  const lines = history.linesAfter(0);
  expect(lines.find(({ text }) => text.includes('relu('))?.place).toBe('node "relu_0"');
});

test('a program that is not valid is refused', async () => {
  const compiling = compileWithHistory('def @main( {', { file: 'net.ir' });
  await expect(compiling).rejects.toMatchObject({ name: 'ParseError' });
});
