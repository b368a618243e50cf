import { describe, expect, test } from 'vitest';
import { ALL_DTYPES, storageByteLength } from '../../core/tensor/dtype.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { TestDevice } from '../testing/test-device.ts';
import { fromStorageBytes, toStorageBytes, writeTensor } from './tensor-transfer.ts';

async function roundTrip(tensor: HostTensor): Promise<HostTensor> {
  const device = new TestDevice();
  const byteLength = storageByteLength(tensor.dtype, tensor.elementCount);
  const buffer = device.createBuffer(byteLength + 256);
  writeTensor({ device, buffer, byteOffset: 256 }, tensor);
  const [bytes = new Uint8Array(0)] = await device.read([{ buffer, byteOffset: 256, byteLength }]);
  return fromStorageBytes(tensor.dtype, tensor.shape, bytes);
}

describe('host tensors to device bytes and back', () => {
  test.each(ALL_DTYPES)('%s of 0, 1, 3 and 7 elements', async (dtype) => {
    for (const count of [0, 1, 3, 7]) {
      const values = Array.from({ length: count }, (_, i) => (dtype === 'bool' ? i % 2 : i + 1));
      const tensor = HostTensor.from(dtype, [count], values);
      const back = await roundTrip(tensor);
      expect(back.dtype).toBe(dtype);
      expect([...back.elements]).toEqual([...tensor.elements]);
    }
  });

  test.each(ALL_DTYPES)('a large %s splat is written in pieces', async (dtype) => {
    const splat = HostTensor.splat(dtype, [300, 701], 1);
    const back = await roundTrip(splat);
    expect(back.elements.length).toBe(210_300);
    expect(back.elements.every((element) => Number(element) === 1)).toBe(true);
  });

  test('bool is a word of 0 or 1 per element, whatever byte stood for true', () => {
    const words = toStorageBytes('bool', Uint8Array.of(0, 1, 255));
    expect([...new Uint32Array(words.buffer)]).toEqual([0, 1, 1]);
    const bytes = new Uint8Array(Uint32Array.of(0, 1, 0x01000000).buffer);
    expect([...fromStorageBytes('bool', [3], bytes).elements]).toEqual([0, 1, 1]);
  });

  test('8-bit elements are padded to a word', () => {
    expect([...toStorageBytes('uint8', Uint8Array.of(1, 2, 3, 4, 5))]).toEqual([
      1, 2, 3, 4, 5, 0, 0, 0,
    ]);
  });
});
