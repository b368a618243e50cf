import { expect, test } from 'vitest';
import { FormatError } from '../../../core/errors.ts';
import { openTokenizer } from './text-reader.ts';

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
  for (const id of [-1, 0.5, '1', null, undefined, 2 ** 31, 2 ** 60]) {
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

test('groups of a pattern that splits are no tokens, however it splits', async () => {
  const given = {
    ...PLAIN,
    model: { type: 'WordLevel', vocab: { '?': 0, x: 1, a: 2, b: 3, ab: 4 }, unk_token: '?' },
  };
  const tokens = async (more: object): Promise<readonly number[]> => {
    const pre_tokenizer = { type: 'Split', pattern: { Regex: '(a)(b)?' }, ...more };
    return (await openTokenizer({ tokenizer: { ...given, pre_tokenizer }, config: {} })).encode(
      'xabxax',
    );
  };
  expect(await tokens({ behavior: 'Removed', invert: false })).toEqual([1, 1, 1]);
  expect(await tokens({ behavior: 'Isolated', invert: false })).toEqual([1, 4, 1, 2, 1]);
  expect(await tokens({ behavior: 'Removed', invert: true })).toEqual([4, 2]);
});

const BYTE_PAIRS = {
  type: 'BPE',
  vocab: { a: 0, b: 1, ' ': 2, ab: 3, '▁': 4, x: 5 },
  merges: ['a b'],
  unk_token: 'a',
};
const many = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));
const replace = (pattern: object, content: string) => ({ type: 'Replace', pattern, content });
const split = (regex: string, more = {}) => ({ type: 'Split', pattern: { Regex: regex }, ...more });
const decoders = (...all: object[]) => ({ type: 'Sequence', decoders: all });
const all = { Sequence: { id: 'A', type_id: 0 } };

const ON_AND_ON = 'got patterns or tokens that go on and on with ';
const REFUSED =
  ', expected one that is whole, ends, and doubles no text. Take the file of the model';

/** A part of a file, the text that is encoded or the ids that are decoded, and the error. */
test.each<[name: string, parts: object, given: string | number[], message: string]>([
  [
    'a pattern that goes back',
    { pre_tokenizer: split('(a+)+x') },
    'a'.repeat(60),
    `${ON_AND_ON}60 letters`,
  ],
  [
    'a normalizer that goes back',
    { normalizer: replace({ Regex: '(a|a)*x' }, '') },
    'a'.repeat(60),
    ON_AND_ON,
  ],
  [
    'the same with an added token',
    {
      normalizer: { type: 'Sequence', normalizers: [replace({ Regex: '(a|a)*x' }, '')] },
      added_tokens: [{ id: 6, content: 'a'.repeat(60), normalized: true }],
    },
    'b',
    ON_AND_ON,
  ],
  [
    'a decoder that goes back',
    { decoder: decoders({ type: 'Fuse' }, replace({ Regex: '(a|a)*x' }, '')) },
    many(60, () => 0),
    ON_AND_ON,
  ],
  [
    'normalizers that double',
    {
      normalizer: { type: 'Sequence', normalizers: many(60, () => replace({ String: 'a' }, 'aa')) },
    },
    'a',
    ON_AND_ON,
  ],
  [
    'what a match is replaced by twice',
    { normalizer: replace({ String: 'a' }, '$&$&') },
    'a',
    `got the Replace {"type":"Replace","pattern":{"String":"a"},"content":"$&$&"}${REFUSED}`,
  ],
  [
    'blanks that double',
    { pre_tokenizer: { type: 'Metaspace', str_rep: '  ' } },
    'a a',
    `"str_rep":"  "}${REFUSED}`,
  ],
  [
    'a decoder that doubles',
    { decoder: decoders({ type: 'BPEDecoder', suffix: '' }) },
    [0],
    `got the BPEDecoder {"type":"BPEDecoder","suffix":""}${REFUSED}`,
  ],
  [
    'a text that is there twice',
    { post_processor: { type: 'TemplateProcessing', single: [all, all] } },
    'a',
    'got the TemplateProcessing {',
  ],
  [
    'pieces of no letter',
    { pre_tokenizer: { type: 'FixedLength', length: 0 } },
    'a',
    `got the FixedLength {"type":"FixedLength","length":0}${REFUSED}`,
  ],
  [
    'a long prefix',
    { normalizer: { type: 'Prepend', prepend: 'x'.repeat(65) } },
    'a',
    'got the prepend of 65 letters, expected at most 64.',
  ],
  [
    'a long suffix',
    { model: { ...BYTE_PAIRS, end_of_word_suffix: 'x'.repeat(99) } },
    'a',
    'got the end_of_word_suffix of 99 letters',
  ],
  [
    'many steps',
    { normalizer: { type: 'Sequence', normalizers: many(100, () => ({ type: 'NFC' })) } },
    'a',
    'got 101 steps, expected at most 100.',
  ],
  [
    'steps that double',
    { pre_tokenizer: { type: 'Sequence', pretokenizers: many(9, () => ({ type: 'ByteLevel' })) } },
    'a',
    'got 9 steps of ByteLevel, expected at most 8.',
  ],
  [
    'a long pattern',
    { pre_tokenizer: split('\\x{'.repeat(7000)) },
    'a',
    'got patterns of 21000 letters, expected at most 20000.',
  ],
  [
    'a pattern with a reference',
    { pre_tokenizer: split('(?<n>a)\\k<n>') },
    'a',
    'goes on with "\\\\k<n>"',
  ],
  [
    'long added tokens',
    { added_tokens: [{ id: 6, content: 'a'.repeat(2 ** 21), special: true }] },
    'a',
    'got added tokens of 2097152 letters, expected at most 1048576.',
  ],
  [
    'a long added token in a long text',
    { added_tokens: [{ id: 6, content: `${'a'.repeat(1e5)}b`, special: true }] },
    'a'.repeat(1e5),
    ON_AND_ON,
  ],
  [
    'words without end',
    {
      model: {
        type: 'WordPiece',
        unk_token: 'a',
        continuing_subword_prefix: '##',
        vocab: { a: 0 },
        max_input_chars_per_word: 1e9,
      },
    },
    'b'.repeat(20_000),
    ON_AND_ON,
  ],
  [
    'a piece for each length',
    {
      model: {
        type: 'Unigram',
        unk_id: 0,
        vocab: [['<unk>', 0], ...many(800, (i) => ['a'.repeat(i + 1), -i])],
      },
    },
    'a'.repeat(4000),
    ON_AND_ON,
  ],
  [
    'a vocabulary of millions of letters',
    { model: { type: 'Unigram', unk_id: 0, vocab: [['a'.repeat(5e6), 0]] } },
    'a',
    'got tokens of 5000000 letters, expected at most 4194304.',
  ],
  [
    'no model',
    { model: null },
    'a',
    'got parts that are missing, or of another kind, expected a tokenizer that @huggingface/tokenizers reads. Take the file of the model',
  ],
  ['a part without a type', { decoder: {} }, 'a', 'got Unknown Decoder type: none, expected'],
  [
    'a cut without a pattern',
    { pre_tokenizer: { type: 'Split', pattern: {} } },
    'a',
    'got the Split {',
  ],
])('%s: a typed error', async (_, parts, given, message) => {
  let thrown: unknown;
  try {
    const tokenizer = { ...PLAIN, pre_tokenizer: null, model: BYTE_PAIRS, ...parts };
    const own = await openTokenizer({ tokenizer, config: {} });
    if (typeof given === 'string') own.encode(given);
    else own.decode(given);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(FormatError);
  expect(String(thrown)).toContain(message);
});
