import { expect, test } from 'vitest';
import { mergeChoices, toChoices } from './choice-store.ts';

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

test('of what a store holds, only what tuning could have put there is taken', () => {
  const good = [
    { plan: 'a', choices: {} },
    { plan: 'b', chosen: 'c', choices: { place: 'name' } },
    { plan: 'd', choices: {}, attempts: 2 },
  ];
  const bad = [
    null,
    'choice',
    7,
    [],
    {},
    { plan: 1, choices: {} },
    { plan: 'a' },
    { plan: 'a', choices: null },
    { plan: 'a', choices: { place: 7 } },
    { plan: 'a', choices: {}, chosen: 7 },
    { plan: 'a', choices: {}, attempts: 'many' },
  ];
  expect(toChoices([...bad, ...good])).toEqual(good);
  for (const stored of [undefined, null, 'choices', { 0: good[0], length: 1 }]) {
    expect(toChoices(stored)).toEqual([]);
  }
});
