import { expect, test } from 'vitest';
import { runTask, sub, type Task } from './task.ts';

const DEPTH = 100_000;

test('tasks wait for one another without a stack', () => {
  function* sum(n: number): Task<number> {
    return n === 0 ? 0 : n + (yield* sub(sum(n - 1)));
  }
  expect(runTask(sum(DEPTH))).toBe((DEPTH * (DEPTH + 1)) / 2);
});

test('what is thrown passes through all that wait, and through their finally', () => {
  let left = 0;
  function* fail(n: number): Task<void> {
    try {
      if (n === 0) throw new RangeError('at the bottom');
      yield* sub(fail(n - 1));
    } finally {
      left++;
    }
  }
  expect(() => runTask(fail(DEPTH))).toThrow(new RangeError('at the bottom'));
  expect(left).toBe(DEPTH + 1);
});

test('one that catches goes on', () => {
  function* check(n: number): Task<number> {
    if (n > 1) yield* sub(check(n - 1));
    if (n === 2) throw new RangeError(`${n} is too much`);
    return n;
  }
  function* recover(): Task<string> {
    try {
      return String(yield* sub(check(9)));
    } catch (thrown) {
      return `${String(thrown)}, ${yield* sub(check(1))} is not`;
    }
  }
  expect(runTask(recover())).toBe('RangeError: 2 is too much, 1 is not');
});
