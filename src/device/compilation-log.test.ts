import { expect, test } from 'vitest';
import { CompilationLog, MOST_COMPILATIONS } from './compilation-log.ts';

test('the oldest compilations go', () => {
  const log = new CompilationLog();
  const begin = performance.now();
  for (let i = 0; i < MOST_COMPILATIONS + 2; i++) log.add(String(i), begin);
  expect(log.latest).toHaveLength(MOST_COMPILATIONS);
  expect(log.latest[0]?.label).toBe('2');
  expect(log.latest.at(-1)?.label).toBe(String(MOST_COMPILATIONS + 1));
  expect(log.latest[0]?.endMs).toBeGreaterThanOrEqual(begin);
});
