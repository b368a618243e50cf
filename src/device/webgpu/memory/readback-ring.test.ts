import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { BufferTable } from './buffers.ts';
import { ReadbackRing } from './readback-ring.ts';

/** A staging buffer whose mapping ends when the test says so. */
class SlowBuffer {
  readonly size = 4096;
  isDestroyed = false;
  finish: () => void = () => undefined;
  fail: (error: Error) => void = () => undefined;

  mapAsync(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.finish = resolve;
      this.fail = reject;
    });
  }

  getMappedRange(): ArrayBuffer {
    return Uint8Array.from({ length: this.size }, (_, i) => i % 251).buffer;
  }

  unmap(): void {}

  destroy(): void {
    this.isDestroyed = true;
  }
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function open() {
  const submit = vi.fn<(commands: Iterable<GPUCommandBuffer>) => undefined>();
  const buffer = new SlowBuffer();
  const table = { createRaw: () => buffer } as unknown as BufferTable;
  const ring = new ReadbackRing(table, { submit });
  const read = ring.read(ring.take(10), [4, 2]);
  return { submit, buffer, ring, read };
}

test('blocks are read from multiples of eight bytes, and the buffer is used again', async () => {
  const { buffer, ring, read } = open();
  buffer.finish();
  expect(await read).toEqual([Uint8Array.of(0, 1, 2, 3), Uint8Array.of(8, 9)]);
  expect(ring.take(20)).toBe(buffer);
});

test('a wait sends empty submissions, a few, until it ends', async () => {
  const { submit, buffer, read } = open();
  await vi.advanceTimersByTimeAsync(3);
  expect(submit.mock.calls).toEqual([[[]], [[]], [[]]]);
  buffer.finish();
  await read;
  await vi.advanceTimersByTimeAsync(100);
  expect(submit).toHaveBeenCalledTimes(3);

  const long = open();
  await vi.advanceTimersByTimeAsync(1000);
  expect(long.submit).toHaveBeenCalledTimes(12);
  long.buffer.finish();
  await long.read;
});

test('reads like one before are expected to end as late, shortly before which submissions begin', async () => {
  const { submit, buffer, ring, read } = open();
  const finishAfter = async (ms: number, reading: Promise<unknown>): Promise<number> => {
    submit.mockClear();
    await vi.advanceTimersByTimeAsync(ms);
    buffer.finish();
    await reading;
    return submit.mock.calls.length;
  };
  const again = (lengths: readonly number[]) => ring.read(ring.take(10), lengths);
  expect(await finishAfter(20, read)).toBe(12);
  expect(await finishAfter(20, again([4, 2]))).toBe(6);
  // One that took less is as good as the rule.
  expect(await finishAfter(9, again([4, 2]))).toBe(0);
  expect(await finishAfter(9, again([4, 2]))).toBe(6);
  expect(await finishAfter(9, again([4, 3]))).toBe(9);
});

test('a wait that fails ends them too, and drops the buffer', async () => {
  const { submit, buffer, read } = open();
  const failure = expect(read).rejects.toThrow('lost');
  buffer.fail(new Error('lost'));
  await failure;
  await vi.advanceTimersByTimeAsync(100);
  expect(submit).not.toHaveBeenCalled();
  expect(buffer.isDestroyed).toBe(true);
});

test('memory for a third read like two before is made in between, and given to it alone', async () => {
  const { buffer, ring, read } = open();
  Object.assign(buffer, { size: 1_200_000 });
  buffer.finish();
  await read;
  // Timers of other files come and go, but not before the next turn of the event loop.
  let timers = 0;
  const readAgain = async (lengths: readonly number[]) => {
    timers = vi.getTimerCount();
    const reading = ring.read(ring.take(1_100_000), lengths);
    buffer.finish();
    const [block] = await reading;
    if (block === undefined) throw new Error('no block');
    return block;
  };
  const first = await readAgain([1_100_000]);
  // Nothing is expected after one read of a kind.
  expect(vi.getTimerCount()).toBe(timers);
  const seen = [first];
  for (let i = 0; i < 3; i++) {
    const next = await readAgain([1_100_000]);
    expect(Buffer.compare(next, first)).toBe(0);
    expect(seen).not.toContain(next);
    seen.push(next);
    expect(vi.getTimerCount()).toBe(timers + 1);
    await vi.advanceTimersByTimeAsync(1);
  }
  expect(await readAgain([3, 8])).toEqual(first.slice(0, 3));
  expect(vi.getTimerCount()).toBe(timers);
});
