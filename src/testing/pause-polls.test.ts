import { expect, test } from 'vitest';
import { withPauses } from './pause-polls.ts';

/** A clock that moves as told, and the polls that wait. */
function fakeTimers() {
  const waiting: { readonly poll: () => void; readonly delayMs: number }[] = [];
  const clock = { now: 0 };
  const paused = withPauses({
    now: () => clock.now,
    soon: (poll) => waiting.push({ poll, delayMs: 0 }),
    later: (poll, delayMs) => waiting.push({ poll, delayMs }),
  });
  return { clock, waiting, paused };
}

test('who asks again and again pauses after a while, and each new wait begins without', () => {
  const { clock, waiting, paused } = fakeTimers();
  const delays: number[] = [];
  const waitFor = (count: number) => {
    let left = count;
    const poll = () => {
      if (--left > 0) paused(poll);
    };
    paused(poll);
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      delays.push(next.delayMs);
      clock.now += 0.4;
      next.poll();
    }
  };
  waitFor(5);
  expect(delays.splice(0)).toEqual([0, 0, 0, 1, 1]);
  waitFor(2);
  expect(delays.splice(0)).toEqual([0, 0]);
});

test('a poll that throws does not make what follows one of its own', () => {
  const { clock, waiting, paused } = fakeTimers();
  const fail = () => {
    throw new Error('lost');
  };
  paused(fail);
  expect(() => waiting.shift()?.poll()).toThrow('lost');
  clock.now = 10;
  paused(fail);
  expect(waiting.map(({ delayMs }) => delayMs)).toEqual([0]);
});
