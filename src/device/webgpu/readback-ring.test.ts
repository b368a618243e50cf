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
  expect(vi.getTimerCount()).toBe(0);

  const long = open();
  await vi.advanceTimersByTimeAsync(1000);
  expect(long.submit).toHaveBeenCalledTimes(8);
  expect(vi.getTimerCount()).toBe(0);
  long.buffer.finish();
  await long.read;
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
