import { describe, expect, test } from 'vitest';
import { BytePairs, END, trainBytePairs } from './byte-pairs.ts';

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
