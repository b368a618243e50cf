import { expect, test } from 'vitest';
import { tokenBytes } from './text-reader.ts';

const textsOf = (tokenizer: Readonly<Record<string, unknown>>, size: number) =>
  tokenBytes(tokenizer, size).map((bytes) => bytes && new TextDecoder().decode(bytes));

test('added tokens are their own text, whatever the vocabulary says, and special ones have no bytes', () => {
  const tokenizer = {
    model: { vocab: { Ġa: 0, '<s>': 1, Ġ: 2 } },
    decoder: { type: 'ByteLevel' },
    added_tokens: [
      { id: 1, content: '<s>', special: true },
      { id: 2, content: 'Ġé', special: false },
      { id: 3, content: 'beyond', special: false },
    ],
  };
  expect(textsOf(tokenizer, 3)).toEqual([' a', undefined, 'Ġé']);
  expect(textsOf({ ...tokenizer, added_tokens: undefined }, 3)).toEqual([' a', '<s>', ' ']);
});
