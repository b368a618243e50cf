import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Deferred } from '../../../core/async/deferred.ts';
import { DeviceLostError } from '../../../core/errors.ts';
import type { LaunchOwner } from '../../device.ts';
import { DeviceWatchdog, type SubmittedLaunch } from './device-watchdog.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function launch(label: string, owner?: LaunchOwner): SubmittedLaunch {
  return { primitive: `main_${label}`, label, owner };
}

/** A watchdog over a device whose answers the test gives. */
function open(timeoutMs = 1000, mostLaunches?: number) {
  const finishes: Deferred[] = [];
  const answers: Deferred[] = [];
  const errors: DeviceLostError[] = [];
  const next = (list: Deferred[]) => () => {
    const deferred = new Deferred();
    list.push(deferred);
    return deferred.promise;
  };
  const watchdog = new DeviceWatchdog({
    timeoutMs,
    mostLaunches,
    finish: next(finishes),
    answer: next(answers),
    onStuck: (error) => errors.push(error),
  });
  return { watchdog, finishes, answers, errors };
}

const advance = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** The device's process answers, whatever its GPU does. */
async function advanceAnswering(ms: number, answers: readonly Deferred[]): Promise<void> {
  for (let passed = 0; passed < ms; passed += 50) {
    await advance(50);
    for (const answer of answers) answer.resolve();
  }
}

test('a submit that does not end makes the device lost and names its kernels, not later ones', async () => {
  const { watchdog, answers, errors } = open();
  watchdog.submitted(1, [launch('blur'), [launch('sum'), launch('blur')]]);
  watchdog.probe(1);
  watchdog.submitted(2, [launch('innocent')]);
  await advanceAnswering(900, answers);
  expect(errors).toEqual([]);
  await advanceAnswering(300, answers);
  const [error] = errors;
  expect(errors).toHaveLength(1);
  expect(error).toBeInstanceOf(DeviceLostError);
  expect(error?.message).toBe(
    'WebGPU device: got no answer in 1000 ms, at work on the kernels main_blur (blur), main_sum (sum), expected one of these to end. Load the session again for a new device. If its kernels are slow but end, load it with a larger deviceTimeout.',
  );
  expect(error?.details).toEqual({
    kernels: ['main_blur (blur)', 'main_sum (sum)'],
    timeoutMs: 1000,
  });
});

test('submits that end one after the other are progress, however long they take together', async () => {
  const { watchdog, finishes, answers, errors } = open();
  for (let serial = 1; serial <= 20; serial++) {
    watchdog.submitted(serial, [launch('slow')]);
    watchdog.probe(serial);
  }
  for (const finish of finishes) {
    await advanceAnswering(900, answers);
    finish.resolve();
  }
  await advance(0);
  expect(errors).toEqual([]);
  expect(watchdog.isBusy).toBe(false);
  await advance(10_000);
  expect(errors).toEqual([]);
});

test('the time is that of the owner whose kernels are on the device', async () => {
  const { watchdog, finishes, answers, errors } = open(500);
  const patient: LaunchOwner = { deviceTimeout: 5000, faults: 0 };
  const hasty: LaunchOwner = { deviceTimeout: 200, faults: 0 };
  watchdog.submitted(1, [launch('slow', patient)]);
  watchdog.probe(1);
  watchdog.submitted(2, [launch('endless', hasty)]);
  watchdog.probe(2);
  await advanceAnswering(4000, answers);
  expect(errors).toEqual([]);
  finishes[0]?.resolve();
  await advanceAnswering(900, answers);
  expect(errors[0]?.details).toEqual({ kernels: ['main_endless (endless)'], timeoutMs: 200 });
  expect([patient.faults, hasty.faults]).toEqual([0, 2]);
});

test('time in which the thread was blocked does not count', async () => {
  const { watchdog, finishes, answers, errors } = open();
  watchdog.submitted(1, [launch('sum')]);
  watchdog.probe(1);
  const now = performance.now.bind(performance);
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + 60_000);
  await advanceAnswering(500, answers);
  expect(errors).toEqual([]);
  finishes[0]?.resolve();
  await advance(5000);
  expect(errors).toEqual([]);
  clock.mockRestore();
});

test('a process that answers nothing is told from a kernel that does not end', async () => {
  const { watchdog, errors } = open();
  const owner: LaunchOwner = { faults: 0 };
  watchdog.submitted(1, [launch('sum', owner)]);
  watchdog.probe(1);
  await advance(1200);
  expect(errors[0]?.message).toBe(
    "WebGPU device: got no answer in 1000 ms: the browser's GPU process is stuck, expected an answer. Restart the browser, or use the host device.",
  );
  expect(owner.faults).toBe(1);
});

test('who compiles waits for as long as the process answers otherwise', async () => {
  const { watchdog, answers, errors } = open();
  const compiled = new Deferred();
  void watchdog.answers(compiled.promise);
  await advanceAnswering(20_000, answers);
  expect(errors).toEqual([]);
  answers.length = 0;
  await advance(1300);
  expect(errors[0]?.message).toMatch(/^WebGPU device: got no answer in 1000 ms: the browser's GPU/);
});

test('a wait that fails for another reason is no end of the submit', async () => {
  const { watchdog, finishes, answers, errors } = open();
  watchdog.submitted(1, [launch('sum')]);
  const failed = new Deferred();
  void watchdog.finishes(1, failed.promise).catch(() => undefined);
  failed.reject(new Error('not mapped'));
  await advanceAnswering(500, answers);
  expect(watchdog.isBusy).toBe(true);
  expect(finishes).toHaveLength(1);
  await advanceAnswering(700, answers);
  expect(errors).toHaveLength(1);
});

test('who waits for the end of all work is called once it is over, even when it was given up', async () => {
  const { watchdog, finishes, answers, errors } = open();
  const calls: string[] = [];
  watchdog.whenFinished(() => calls.push('idle'));
  expect(calls).toEqual(['idle']);
  watchdog.submitted(1, [launch('slow')]);
  watchdog.probe(1);
  watchdog.whenFinished(() => calls.push('finished'));
  await advanceAnswering(1500, answers);
  expect(errors).toHaveLength(1);
  expect(calls).toEqual(['idle']);
  finishes[0]?.resolve();
  await advance(0);
  expect(calls).toEqual(['idle', 'finished']);
});

test('a device that went by itself is a fault of the owner whose kernels were on it, once', () => {
  const { watchdog } = open();
  const [first, second]: LaunchOwner[] = [{ faults: 0 }, { faults: 0 }];
  watchdog.submitted(1, [launch('sum', first)]);
  watchdog.submitted(2, [launch('max', second)]);
  expect(watchdog.lost()).toEqual(['main_sum (sum)']);
  expect([first?.faults, second?.faults]).toEqual([1, 0]);
  expect(watchdog.isBusy).toBe(false);
});

test('submits become shorter where they take long, and longer again', async () => {
  const { watchdog, finishes, answers } = open(10_000);
  const submit = async (serial: number, ms: number): Promise<void> => {
    watchdog.submitted(
      serial,
      Array.from({ length: 48 }, () => launch('conv')),
    );
    watchdog.probe(serial);
    await advanceAnswering(ms, answers);
    finishes[serial - 1]?.resolve();
    await advance(0);
  };
  await submit(1, 500);
  expect(watchdog.mostLaunches).toBe(Number.POSITIVE_INFINITY);
  await submit(2, 4000);
  expect(watchdog.mostLaunches).toBe(12);
  await submit(3, 100);
  expect(watchdog.mostLaunches).toBe(24);
});

test('submits begin short where one launch may take long, until some have ended soon', async () => {
  const { watchdog, finishes } = open(10_000, 4);
  const submit = async (serial: number): Promise<number> => {
    watchdog.submitted(serial, [launch('conv')]);
    watchdog.probe(serial);
    finishes[serial - 1]?.resolve();
    await advance(0);
    return watchdog.mostLaunches;
  };
  expect(watchdog.mostLaunches).toBe(4);
  const limits = [await submit(1), await submit(2), await submit(3), await submit(4)];
  expect(limits).toEqual([8, 16, 32, 64]);
  expect(await submit(5)).toBe(Number.POSITIVE_INFINITY);
});
