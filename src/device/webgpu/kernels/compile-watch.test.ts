import { expect, test } from 'vitest';
import { Deferred } from '../../../core/async/deferred.ts';
import { DeviceError } from '../../../core/errors.ts';
import { FakeClock } from '../../../testing/fake-clock.ts';
import { CompileWatch } from './pipeline-cache.ts';

function watched(clock: FakeClock) {
  const watch = new CompileWatch(clock);
  return (deferred: Deferred, label: string, timeoutMs = 1000) =>
    watch.within(deferred.promise, { label, timeoutMs }).then(
      () => 'came',
      (error: unknown) => error,
    );
}

test('code that does not come is given up by the name of its kernel', async () => {
  const clock = new FakeClock();
  const lost = watched(clock)(new Deferred(), 'reduce-direct');
  await clock.advance(1100);
  const error = await lost;
  expect(error).toBeInstanceOf(DeviceError);
  expect(String(error)).toBe(
    'DeviceError: kernel reduce-direct: got no compiled code in 1000 ms, expected it to be compiled by then. Load the program on another device, or with a larger deviceTimeout.',
  );
  expect(clock.waitingCount).toBe(0);
});

test('kernels that come one after the other keep those behind them waiting', async () => {
  const clock = new FakeClock();
  const watch = watched(clock);
  const first = new Deferred();
  const second = new Deferred();
  const [one, two, hasty] = [
    watch(first, 'one'),
    watch(second, 'two'),
    watch(new Deferred(), 'hasty', 300),
  ];
  await clock.advance(700);
  expect((await hasty) instanceof DeviceError).toBe(true);
  first.resolve();
  expect(await one).toBe('came');
  await clock.advance(700);
  second.resolve();
  expect(await two).toBe('came');
});
