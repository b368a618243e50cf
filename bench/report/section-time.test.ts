import { expect, test } from 'vitest';
import { SectionTime } from './section-time.ts';

const never = new AbortController().signal;

test('all items have their turn while there is time', async () => {
  const seen: number[] = [];
  const time = new SectionTime(60_000, never);
  const note = await time.each('numbers', [1, 2, 3], async (item, i) => void seen.push(item * i));
  expect(note).toBeUndefined();
  expect(seen).toEqual([0, 2, 6]);
});

test('what there is no time for is left out and said', async () => {
  const time = new SectionTime(0, never);
  const note = await time.each('kernels', ['a', 'b'], () => Promise.reject(new Error('ran')));
  expect(note).toBe('kernels: 2 of 2 left out after 0 s');
});

test('an aborted signal ends it before the next item', async () => {
  const stop = new AbortController();
  const seen: string[] = [];
  const work = new SectionTime(60_000, stop.signal).each('letters', ['a', 'b'], async (item) => {
    seen.push(item);
    stop.abort(new Error('enough'));
  });
  await expect(work).rejects.toThrow('enough');
  expect(seen).toEqual(['a']);
});
