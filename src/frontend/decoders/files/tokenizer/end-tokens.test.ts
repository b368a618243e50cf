import { expect, test } from 'vitest';
import { endTokens, isControlName } from './end-tokens.ts';
import type { GgufSpecialIds } from './gguf-vocabulary.ts';

const NONE: GgufSpecialIds = {
  bos: undefined,
  eos: undefined,
  eot: undefined,
  eom: undefined,
  unknown: undefined,
  padding: undefined,
};

const ends = (tokens: readonly string[], ids: Partial<GgufSpecialIds> = {}): number[] =>
  endTokens({ tokens, types: [], scores: [] }, { ...NONE, ...ids });

test.each(['eos', 'eot', 'eom'] as const)('%s ends an answer, whatever its text is', (name) => {
  expect(ends(['a', 'b', 'c'], { [name]: 1 })).toEqual([1]);
});

test('other special tokens do not', () => {
  expect(ends(['a', 'b', 'c'], { bos: 0, unknown: 1, padding: 2 })).toEqual([]);
});

test('a name ends an answer without an id, and each token is there once, in order', () => {
  const tokens = ['<|eom_id|>', 'a', '</s>', '<|fim_pad|>', '<|fim_prefix|>', '<|im_end|>'];
  expect(ends(tokens, { eos: 5, eom: 1 })).toEqual([0, 1, 2, 3, 5]);
  expect(tokens.map(isControlName)).toEqual([true, false, true, true, true, true]);
});
