import { describe, expect, test } from 'vitest';
import { ExecBuilder } from '../../bytecode/index.ts';
import type { Executable } from '../../bytecode/index.ts';
import { ALL_DTYPES } from '../../core/tensor/dtype.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { PooledAllocator } from '../allocator/pooled-allocator.ts';
import { ConstantUpload } from './constant-upload.ts';
import { readTensors } from '../values/tensor-read.ts';
import { TestDevice } from '../testing/test-device.ts';
import { FloatValue, TensorValue } from '../values/value.ts';

/** Functions that return constants, so that the builder keeps them. */
function withConstants(tensors: readonly HostTensor[]): Executable {
  const b = new ExecBuilder();
  for (const [index, tensor] of tensors.entries()) {
    const f = b.function(`f${index}`);
    f.ret(b.tensor(tensor));
  }
  const f = b.function('scalar');
  f.ret(b.float(2.5));
  return b.build();
}

function everyDtype(): HostTensor[] {
  return ALL_DTYPES.flatMap((dtype) => [
    HostTensor.from(dtype, [5], dtype === 'bool' ? [1, 0, 1, 1, 0] : [1, 2, 3, 4, 5]),
    HostTensor.splat(dtype, [3, 7], 1),
    HostTensor.zeros(dtype, [0, 2]),
  ]);
}

async function uploadInBlocks(executable: Executable, blockByteLength: number) {
  const device = new TestDevice();
  const upload = new ConstantUpload(executable.constants, new PooledAllocator(device));
  const { data } = executable;
  for (let byteOffset = 0; byteOffset < data.byteLength; byteOffset += blockByteLength) {
    upload.write({ byteOffset, bytes: data.slice(byteOffset, byteOffset + blockByteLength) });
  }
  upload.finish();
  const tensors = upload.values.filter((value) => value instanceof TensorValue);
  return { device, upload, tensors, contents: await readTensors(tensors) };
}

describe('ConstantUpload', () => {
  test.each([1, 3, 7, 64, 255, 256, 1000, 1 << 20])('blocks of %i bytes', async (size) => {
    const executable = withConstants(everyDtype());
    const { contents } = await uploadInBlocks(executable, size);
    const constants = executable.constants.entries();
    const expected = [...constants].flatMap(([index, { kind }]) =>
      kind === 'tensor' ? [executable.tensor(index)] : [],
    );
    expect(contents.length).toBe(expected.length);
    for (const [index, host] of contents.entries()) {
      expect(host.shape).toEqual(expected[index]?.shape);
      expect([...host.elements]).toEqual([...(expected[index]?.data ?? [])]);
    }
  });

  test('all tensors share one read-only buffer, at multiples of 256', async () => {
    const { device, upload, tensors } = await uploadInBlocks(withConstants(everyDtype()), 4096);
    expect(device.counters().buffersCreated).toBe(1);
    expect(tensors.every(({ storage }) => storage.isReadOnly)).toBe(true);
    expect(tensors.every(({ byteOffset }) => byteOffset % 256 === 0)).toBe(true);
    expect(upload.values.some((value) => value instanceof FloatValue && value.value === 2.5)).toBe(
      true,
    );
    upload.dispose();
    expect(device.counters().bytesLive).toBe(0);
  });

  test('tensors go to further buffers where the device has smaller ones', async () => {
    const tensors = [1, 2, 3].map((mark) => HostTensor.splat('float32', [200], mark));
    const executable = withConstants(tensors);
    const device = new TestDevice({ maxBufferByteLength: 2000 });
    const upload = new ConstantUpload(executable.constants, new PooledAllocator(device));
    upload.write({ byteOffset: 0, bytes: executable.data });
    upload.finish();
    expect(device.counters()).toMatchObject({ buffersCreated: 2, bytesLive: 1824 + 800 });
    const values = upload.values.filter((value) => value instanceof TensorValue);
    const contents = await readTensors(values);
    expect(contents.map(({ elements }) => elements[199])).toEqual([1, 2, 3]);
  });

  test('a tensor beyond the largest buffer is out of memory', () => {
    const { constants } = withConstants([HostTensor.zeros('float32', [1000])]);
    const allocator = new PooledAllocator(new TestDevice({ maxBufferByteLength: 2000 }));
    expect(() => new ConstantUpload(constants, allocator)).toThrow(
      "got a request of 4000 bytes, expected at most 2000, the device's largest buffer",
    );
  });

  test('constants count against the budget', () => {
    const { constants } = withConstants([HostTensor.zeros('float32', [1000])]);
    const device = new TestDevice();
    const allocator = new PooledAllocator(device, { byteBudget: 3000 });
    expect(() => new ConstantUpload(constants, allocator)).toThrow(
      'got a request of 4000 bytes with 0 live, 0 pooled and 0 in constants',
    );
    expect(device.counters().buffersCreated).toBe(0);
  });

  test('an end of the data before the last constant is a FormatError', () => {
    const executable = withConstants([HostTensor.from('float32', [4], [1, 2, 3, 4])]);
    const upload = new ConstantUpload(executable.constants, new PooledAllocator(new TestDevice()));
    upload.write({ byteOffset: 0, bytes: executable.data.subarray(0, 15) });
    expect(() => upload.finish()).toThrowErrorMatchingInlineSnapshot(
      `[FormatError: data section: got an end before the constant at byte 0 was complete, expected 16 bytes for it. Load the whole file again.]`,
    );
  });
});
