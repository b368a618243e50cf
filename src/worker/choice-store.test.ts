import { expect, test } from 'vitest';
import { mergeChoices } from './choice-store.ts';

const choice = (plan: string, name: string) => ({ plan, choices: { place: name } });

test('choices that others stored meanwhile stay, those of the same plan are replaced', () => {
  const known = [choice('a', 'old'), choice('b', 'theirs')];
  const merged = mergeChoices(known, [choice('c', 'mine'), choice('a', 'mine')]);
  expect(merged).toEqual([choice('b', 'theirs'), choice('c', 'mine'), choice('a', 'mine')]);
});

test('the ones that were stored first go when there are too many', () => {
  const many = Array.from({ length: 5000 }, (_, i) => choice(String(i), 'any'));
  const merged = mergeChoices(many, [choice('last', 'any')]);
  expect(merged).toHaveLength(4096);
  expect(merged[0]?.plan).toBe('905');
  expect(merged.at(-1)?.plan).toBe('last');
});
