import { expect, test } from 'vitest';
import { macrotask } from '../../core/async/macrotask.ts';
import { createHostDevice } from '../../device/host/host-device.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { SharedDevice } from './device-pool.ts';
import { IdleTurns } from './idle-turns.ts';

/** Longer than a device is to be quiet. */
const LONG_MS = 1000;

/** Work that ends when it is told to. */
function work() {
  let done = (): void => undefined;
  const promise = new Promise<void>((resolve) => {
    done = resolve;
  });
  return { done: () => done(), run: () => promise };
}

function turns() {
  const device = new SharedDevice(createHostDevice());
  const abort = new AbortController();
  const clock = new FakeClock();
  const passUntil = <T>(done: Promise<T>) => clock.advanceUntil(done, LONG_MS);
  return { device, abort, clock, passUntil, idle: new IdleTurns(device, abort.signal, clock) };
}

test('a turn waits for the work that is under way', async () => {
  const { device, idle, clock, passUntil } = turns();
  const run = work();
  const events: string[] = [];
  const running = device.share(run.run).then(() => events.push('run'));
  const turn = idle.take(async () => void events.push('turn'));
  await clock.waitedFor();
  await clock.advance(LONG_MS);
  expect(events).toEqual([]);
  run.done();
  await running;
  await passUntil(turn);
  expect(events).toEqual(['run', 'turn']);
});

test('work that comes during a turn is next, before another turn', async () => {
  const { device, idle, passUntil } = turns();
  const events: string[] = [];
  const running: Promise<unknown>[] = [];
  const share = (name: string) => running.push(device.share(async () => void events.push(name)));
  for (let i = 0; i < 3; i++) {
    const turn = idle.take(async () => {
      events.push(`turn ${i}`);
      if (i === 1) share('a run');
      if (i === 1) share('another');
    });
    await passUntil(turn);
  }
  await Promise.all(running);
  expect(events).toEqual(['turn 0', 'turn 1', 'a run', 'another', 'turn 2']);
});

test('turns follow each other without a wait while nobody else is there', async () => {
  const { idle, passUntil } = turns();
  let count = 0;
  const take = () => idle.take(async () => void count++);
  await passUntil(take());
  for (let i = 1; i < 10; i++) await take();
  expect(count).toBe(10);
});

test('two that take turns both come to their end', async () => {
  const { device, idle, abort, clock, passUntil } = turns();
  const other = new IdleTurns(device, abort.signal, clock);
  let inTurn = 0;
  const both = Promise.all(
    [idle, other].map(async (turns) => {
      let count = 0;
      for (let i = 0; i < 5; i++) {
        await turns.take(async () => {
          expect(++inTurn).toBe(1);
          await macrotask();
          inTurn--;
        });
        count++;
      }
      return count;
    }),
  );
  expect(await passUntil(both)).toEqual([5, 5]);
});

test('an abort ends the wait', async () => {
  const { device, idle, abort } = turns();
  const run = work();
  const running = device.share(run.run);
  const turn = idle.take(async () => undefined);
  abort.abort();
  await expect(turn).rejects.toThrow('aborted');
  run.done();
  await running;
});
