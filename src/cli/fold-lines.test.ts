import { expect, test } from 'vitest';
import { foldLines } from './fold-lines.ts';

const TEXT =
  'func main(x: Tensor[(1, 8), float32], y: int) -> (z: Tensor[(1, 8), float32])\n  0: ret %0';

test('signatures are folded to the width', () => {
  expect(foldLines(TEXT, 40)).toBe(
    [
      'func main(x: Tensor[(1, 8), float32],',
      '    y: int)',
      '    -> (z: Tensor[(1, 8), float32])',
      '  0: ret %0',
    ].join('\n'),
  );
  for (const line of foldLines(TEXT, 37).split('\n')) expect(line.length).toBeLessThanOrEqual(37);
});

test('what fits, and what goes into a file, stays as it is', () => {
  expect(foldLines(TEXT, 100)).toBe(TEXT);
  expect(foldLines(TEXT, undefined)).toBe(TEXT);
});
