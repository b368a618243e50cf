import { expect, test } from 'vitest';
import { RateLimit } from './connection.ts';

/** How many calls pass before one is refused. */
function passing(limit: RateLimit): number {
  for (let count = 0; ; count++) {
    try {
      limit.take();
    } catch (error) {
      expect(String(error)).toContain('got more than 10 calls per second');
      return count;
    }
  }
}

test('a burst has the calls of four seconds, and a connection that rests saves up no more', () => {
  let now = 0;
  const limit = new RateLimit(10, () => now);
  expect(passing(limit)).toBe(40);
  now += 500;
  expect(passing(limit)).toBe(5);
  now += 3_600_000;
  expect(passing(limit)).toBe(40);
});
