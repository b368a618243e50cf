import { expect, test } from 'vitest';
import type { DeviceTensor } from '../client/device-tensor.ts';
import { Tensor } from '../client/tensor.ts';
import { CHUNK } from '../core/text-layout.ts';
import { PlainSteps, type TokenDrawer } from './steps.ts';

const LIMITS = { chunk: CHUNK, context: 1000 };

/** Draws 1 to 8, and so on. Each call is told to a list, and the device answers one after the other. */
function fakeDrawer(events: string[], held: Promise<void> = Promise.resolve()): TokenDrawer {
  let chunks = 0;
  const begin = async (_: number, position: number): Promise<DeviceTensor> => {
    const chunk = chunks++;
    events.push(`begin ${position}`);
    if (chunk > 0) await held;
    const ids = Array.from({ length: CHUNK }, (__, i) => chunk * CHUNK + i + 1);
    const words = Int32Array.from([...ids, ...ids.map(() => 0)]);
    const read = async () => {
      events.push(`read ${chunk}`);
      return new Tensor('int32', words, [1, 2 * CHUNK]);
    };
    const dispose = () => void events.push(`dispose ${chunk}`);
    return { read, dispose } as unknown as DeviceTensor;
  };
  return { begin } as unknown as TokenDrawer;
}

test('a chunk is there before the next one is computed', async () => {
  const events: string[] = [];
  let goOn = (): void => undefined;
  const steps = new PlainSteps(
    fakeDrawer(events, new Promise((resolve) => (goOn = resolve))),
    LIMITS,
  );
  const first = await steps.next([0, 0, 0], 100);
  expect(first.ids).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  expect(events).toEqual(['begin 3', 'read 0', 'begin 11', 'dispose 0']);
  const second = steps.next([0, 0, 0, ...first.ids], 92);
  goOn();
  expect((await second).ids[0]).toBe(9);
  const ended = steps.dispose();
  await ended;
  expect(events.at(-1)).toBe('dispose 2');
});

test('an error of a chunk is that of who asks for it, and nobody else hears of it', async () => {
  const failure = Promise.reject(new Error('lost'));
  failure.catch(() => undefined);
  const steps = new PlainSteps(fakeDrawer([], failure), LIMITS);
  const first = await steps.next([0], 100);
  await expect(steps.next([0, ...first.ids], 92)).rejects.toThrow('lost');
  const others = new PlainSteps(fakeDrawer([], failure), LIMITS);
  await others.next([0], 100);
  await others.dispose();
});
