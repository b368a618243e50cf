import { expect, test } from 'vitest';
import { DeviceError, DeviceLostError, OutOfMemoryError } from '../../../core/errors.ts';
import { DeviceFaults } from './device-faults.ts';

class GPUOutOfMemoryError {
  readonly message = 'vkAllocateMemory failed\n - While calling [Device].CreateBuffer';
}

class GPUValidationError {
  readonly message = 'usage is zero';
}

/** A GPU device that reports the errors it is told to, from its last scope. */
class FakeGpuDevice {
  readonly errors: unknown[] = [];
  lose: (info: { reason: string; message: string }) => void = () => undefined;
  readonly lost = new Promise((resolve) => {
    this.lose = resolve;
  });
  depth = 0;
  pushes = 0;
  listener: ((event: unknown) => void) | undefined;

  addEventListener(_type: string, listener: (event: unknown) => void): void {
    this.listener = listener;
  }

  removeEventListener(_type: string, listener: (event: unknown) => void): void {
    if (this.listener === listener) this.listener = undefined;
  }

  pushErrorScope(): void {
    this.depth++;
    this.pushes++;
  }

  popErrorScope(): Promise<unknown> {
    this.depth--;
    return Promise.resolve(this.errors.shift() ?? null);
  }
}

function open(): { readonly gpu: FakeGpuDevice; readonly faults: DeviceFaults } {
  const gpu = new FakeGpuDevice();
  return { gpu, faults: new DeviceFaults(gpu as unknown as GPUDevice) };
}

test('an allocation that the GPU refuses is an OutOfMemoryError with the sizes', async () => {
  const { gpu, faults } = open();
  gpu.errors.push(new GPUOutOfMemoryError());
  faults.scoped('buffer of 4096 bytes, with 512 in use on SwiftShader', () => undefined);
  const settled = faults.settle(faults.serial);
  await expect(settled).rejects.toBeInstanceOf(OutOfMemoryError);
  await expect(settled).rejects.toThrowErrorMatchingInlineSnapshot(
    `[OutOfMemoryError: buffer of 4096 bytes, with 512 in use on SwiftShader: got no memory from the GPU (vkAllocateMemory failed), expected room for the allocation. Use smaller inputs, or dispose of unused sessions and tensors.]`,
  );
  await faults.settle(faults.serial);
});

test('writes that follow one another share their scopes, which what comes next closes', async () => {
  const { gpu, faults } = open();
  const write = (): void => faults.scopedWrite(() => undefined);
  for (let i = 0; i < 5; i++) write();
  expect([gpu.pushes, gpu.depth]).toEqual([3, 3]);
  await Promise.resolve();
  expect(gpu.depth).toBe(0);
  write();
  faults.beginSubmission();
  expect([gpu.pushes, gpu.depth]).toEqual([9, 3]);
  write();
  write();
  expect([gpu.pushes, gpu.depth]).toEqual([12, 6]);
  faults.endSubmission();
  expect(gpu.depth).toBe(0);
  await Promise.resolve();
  expect(gpu.depth).toBe(0);
});

test('a write that the GPU refuses is told once, to the next reader', async () => {
  const { gpu, faults } = open();
  const { serial } = faults;
  gpu.errors.push(new GPUValidationError());
  faults.scopedWrite(() => undefined);
  faults.beginSubmission();
  const submission = faults.endSubmission();
  await expect(faults.settle(submission, [serial])).rejects.toThrow('write: the GPU refused');
  await faults.settle(submission + 5, []);
});

test('scopes are closed when the work in them throws', async () => {
  const { gpu, faults } = open();
  expect(() =>
    faults.scoped('work', () => {
      throw new Error('broken');
    }),
  ).toThrow('broken');
  expect(gpu.depth).toBe(0);
  await faults.settle(faults.serial);
});

test('work before a fault is not spoiled by it', async () => {
  const { gpu, faults } = open();
  faults.beginSubmission();
  const first = faults.endSubmission();
  gpu.errors.push(new GPUValidationError());
  faults.beginSubmission();
  const second = faults.endSubmission();
  await faults.settle(first);
  await expect(faults.settle(second)).rejects.toThrow('launch: the GPU refused: usage is zero');
  await faults.settle(faults.serial);
  await expect(faults.settle(faults.serial, [second])).rejects.toBeInstanceOf(DeviceError);
  await faults.settle(faults.serial, [first]);
});

test('the first of many faults is the one that is told', async () => {
  const { gpu, faults } = open();
  gpu.errors.push(new GPUOutOfMemoryError());
  for (let i = 0; i < 100; i++) gpu.errors.push(new GPUValidationError());
  const first = faults.serial;
  for (let i = 0; i < 50; i++) {
    faults.beginSubmission();
    faults.endSubmission();
  }
  await expect(faults.settle(faults.serial)).rejects.toBeInstanceOf(OutOfMemoryError);
  await faults.settle(faults.serial);
  await expect(faults.settle(faults.serial, [first + 40])).rejects.toBeInstanceOf(OutOfMemoryError);
});

test('an error outside of scopes waits for the next reader and is not printed', async () => {
  const { gpu, faults } = open();
  let isPrevented = false;
  gpu.listener?.({
    error: new GPUValidationError(),
    preventDefault() {
      isPrevented = true;
    },
  });
  expect(isPrevented).toBe(true);
  await expect(faults.settle(faults.serial)).rejects.toThrow('WebGPU: the GPU refused');
});

test('loss rejects what is pending with the reason of the browser', async () => {
  const { gpu, faults } = open();
  const pending = faults.untilLost(new Promise(() => undefined));
  const mapping = faults.untilLost(
    (async () => {
      await gpu.lost;
      throw new DOMException('', 'AbortError');
    })(),
  );
  gpu.lose({ reason: 'unknown', message: 'the driver hung' });
  for (const call of [pending, mapping, faults.untilLost(Promise.resolve(1))]) {
    await expect(call).rejects.toBeInstanceOf(DeviceLostError);
  }
  expect((await faults.lost).message).toMatchInlineSnapshot(
    `"WebGPU device: got a lost device (the driver hung), expected a live one. Load the session again; its buffers are gone."`,
  );
  expect(() => faults.throwIfEnded()).toThrow('the driver hung');
});

test('a device that ended is left without a listener, which would keep all of it in Node', async () => {
  const destroyed = open();
  expect(destroyed.gpu.listener).toBeDefined();
  destroyed.faults.destroyed();
  expect(destroyed.gpu.listener).toBe(undefined);
  const lost = open();
  lost.gpu.lose({ reason: 'unknown', message: 'reset' });
  await lost.faults.lost;
  expect(lost.gpu.listener).toBe(undefined);
});
