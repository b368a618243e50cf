import { expect, test } from 'vitest';
import { parseLabels } from './results.ts';

test('names of classes are read from lists, lines, config.json and the file of ImageNet', () => {
  expect(parseLabels('["cat", "dog"]')).toEqual(['cat', 'dog']);
  expect(parseLabels('cat\r\n\ndog\n')).toEqual(['cat', 'dog']);
  expect(parseLabels('{"id2label": {"1": "dog", "0": "cat", "10": "emu"}}')).toEqual([
    'cat',
    'dog',
    'emu',
  ]);
  expect(parseLabels('{"0": ["n01440764", "tench"], "1": ["n01443537", "goldfish"]}')).toEqual([
    'tench',
    'goldfish',
  ]);
});
