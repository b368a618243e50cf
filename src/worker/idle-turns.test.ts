import { expect, test, vi } from 'vitest';
import { createHostDevice } from '../device/host/host-device.ts';
import { SharedDevice } from './device-pool.ts';
import { IdleTurns } from './idle-turns.ts';

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
  return { device, abort, idle: new IdleTurns(device, abort.signal) };
}

test('a turn waits for the work that is under way', async () => {
  const { device, idle } = turns();
  const run = work();
  const events: string[] = [];
  const running = device.share(run.run).then(() => events.push('run'));
  const turn = idle.take(async () => void events.push('turn'));
  await new Promise((resolve) => {
    setTimeout(resolve, 500);
  });
  expect(events).toEqual([]);
  run.done();
  await Promise.all([running, turn]);
  expect(events).toEqual(['run', 'turn']);
});

test('work that comes during a turn is next, before another turn', async () => {
  const { device, idle } = turns();
  const events: string[] = [];
  const running: Promise<unknown>[] = [];
  const share = (name: string) => running.push(device.share(async () => void events.push(name)));
  for (let i = 0; i < 3; i++) {
    await idle.take(async () => {
      events.push(`turn ${i}`);
      if (i === 1) share('a run');
      if (i === 1) share('another');
    });
  }
  await Promise.all(running);
  expect(events).toEqual(['turn 0', 'turn 1', 'a run', 'another', 'turn 2']);
});

test('turns follow each other without a wait while nobody else is there', async () => {
  const { idle } = turns();
  const waits = vi.spyOn(globalThis, 'setTimeout');
  let count = 0;
  for (let i = 0; i < 10; i++) await idle.take(async () => void count++);
  expect(count).toBe(10);
  expect(waits).toHaveBeenCalledTimes(1);
  waits.mockRestore();
});

test('two that take turns both come to their end', async () => {
  const { device, idle, abort } = turns();
  const other = new IdleTurns(device, abort.signal);
  let inTurn = 0;
  const counts = await Promise.all(
    [idle, other].map(async (turns) => {
      let count = 0;
      for (let i = 0; i < 5; i++) {
        await turns.take(async () => {
          expect(++inTurn).toBe(1);
          await new Promise((resolve) => {
            setTimeout(resolve, 5);
          });
          inTurn--;
        });
        count++;
      }
      return count;
    }),
  );
  expect(counts).toEqual([5, 5]);
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
