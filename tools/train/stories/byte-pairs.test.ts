import { readFileSync } from 'node:fs';
import { Tokenizer } from '@huggingface/tokenizers';
import { describe, expect, test } from 'vitest';
import { BytePairs, END, trainBytePairs } from './byte-pairs.ts';
import { tokenizerTexts } from './story-batches.ts';

const read = (name: string): string =>
  readFileSync(new URL(`../../../public/models/stories/${name}`, import.meta.url), 'utf8');

/** Texts unlike those of stories. */
const OTHERS = [
  ' ',
  '  two  spaces\tand a tab\n\n\nlines ',
  "don't, we'll, I'm he'd they've you're it's 'quoted'",
  'Zürich, 東京, 🙂👩‍👩‍👧, naïve, Ω≈ç√',
  '12,345.67 % of x_1^2 = {a: [b]}; // done',
  'MIA WENT mia went MiA',
];

test("the stories' tokenizer is that of Hugging Face for the same file", () => {
  const [json, config] = ['tokenizer.json', 'tokenizer_config.json'].map(read);
  const pairs = BytePairs.fromJson(json ?? '');
  const theirs = new Tokenizer(JSON.parse(json ?? ''), JSON.parse(config ?? ''));
  for (const text of [...tokenizerTexts(41, 500), ...OTHERS]) {
    const ids = pairs.encode(text);
    expect(theirs.encode(text, { add_special_tokens: false }).ids, text).toEqual(ids);
    expect(theirs.decode(ids)).toBe(pairs.decode(ids));
  }
});

describe('byte pairs', () => {
  test('merge the commonest pair first, of equal ones the first', () => {
    const pairs = trainBytePairs(['low low low lower', ' ab ab'], 262);
    expect(pairs.merges.slice(0, 4)).toEqual([
      ['l', 'o'],
      ['lo', 'w'],
      ['Ġ', 'low'],
      ['a', 'b'],
    ]);
  });

  test('give any text back, of one token per byte at most', () => {
    const pairs = trainBytePairs(['the cat and the hat on the bat'], 270);
    for (const text of ['the cat', 'Zürich 東京 🙂\n\n x ', "don't"]) {
      const ids = pairs.encode(text);
      expect(pairs.decode(ids)).toBe(text);
      expect(ids.length).toBeLessThanOrEqual(new TextEncoder().encode(text).length);
    }
    expect(pairs.encode(' the')).toHaveLength(1);
  });

  test('come back from tokenizer.json', () => {
    const pairs = trainBytePairs(['the cat and the hat', 'the bat'], 270);
    const json = pairs.toJson();
    expect(BytePairs.fromJson(json).toJson()).toBe(json);
    const { model, added_tokens: added } = JSON.parse(json);
    expect(added[0]).toMatchObject({ id: END, content: '<|endoftext|>', special: true });
    expect(Object.keys(model.vocab)).toHaveLength(pairs.tokens.length);
  });
});
