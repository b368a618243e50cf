import { expect, test } from 'vitest';
import { openTokenizer } from './text-tokenizer.ts';

/** No steps beside the model's own. */
const PLAIN = { added_tokens: [], normalizer: null, post_processor: null, decoder: null };

const open = (model: object, added: object[] = []) =>
  openTokenizer({
    tokenizer: {
      ...PLAIN,
      added_tokens: added,
      model: { type: 'WordPiece', unk_token: '[UNK]', continuing_subword_prefix: '##', ...model },
      pre_tokenizer: { type: 'Whitespace' },
    },
    config: {},
  });

test('ids are integers from 0 up', async () => {
  const tokenizer = await open({ vocab: { '[UNK]': 0, a: 1 } });
  expect(tokenizer.encode('a b a')).toEqual([1, 0, 1]);
  for (const id of [-1, 0.5, '1', null, 2 ** 60]) {
    const message = 'tokenizer.json: got the id ';
    await expect(open({ vocab: { '[UNK]': 0, a: id } })).rejects.toThrow(message);
    const token = { id, content: '<s>', special: true };
    await expect(open({ vocab: { '[UNK]': 0 } }, [token])).rejects.toThrow(message);
  }
});

test('a text that a damaged tokenizer cannot write is a FormatError', async () => {
  const tokenizer = await open({ vocab: { a: 1 } });
  expect(() => tokenizer.encode('b')).toThrow(
    expect.objectContaining({ name: 'FormatError' }) as Error,
  );
});

test('ranks of more pairs than there are end with them', async () => {
  const tokenizer = await openTokenizer({
    tokenizer: {
      ...PLAIN,
      pre_tokenizer: null,
      model: { type: 'BPE', vocab: { a: 0, b: 1, ab: 2 }, merges: ['a b'], rank_sizes: [1e15] },
    },
    config: {},
  });
  expect(tokenizer.encode('ab')).toEqual([2]);
});
