import type { PrimitiveFunction } from '../../../core/contracts/primitive-function.ts';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { seededRandom } from '../../../core/random.ts';
import type { Device } from '../../device.ts';
import { allocateTensor, downloadTensors, uploadTensor } from '../../testing/device-tensors.ts';

function bits({ data }: HostTensor): string {
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64');
}

/** `c = a b` of square matrices. */
export function product(size: number): PrimitiveFunction {
  const type = { dtype: 'float32', shape: [size, size] } as const;
  return {
    name: 'product',
    params: [type, type],
    body: [{ op: 'matmul', inputs: [0, 1], attributes: {} }],
    results: [{ value: 2, type }],
  };
}

export function matrix(size: number, seed: number): HostTensor {
  const random = seededRandom(seed);
  const values = Array.from({ length: size * size }, () => random() - 0.5);
  return HostTensor.from('float32', [size, size], values);
}

/** The product of two matrices, computed so often. */
export async function multiply(device: Device, size: number, times = 1): Promise<string> {
  const kernel = (await device.prepare([product(size)])).get('product');
  const tensors = [matrix(size, 1), matrix(size, 2)].map((one) => uploadTensor(device, one));
  const output = allocateTensor(device, { dtype: 'float32', shape: [size, size] });
  for (let i = 0; i < times; i++) {
    kernel?.launch([...tensors, output]);
    await new Promise((wake) => setTimeout(wake, 1));
  }
  const [result] = await downloadTensors(device, [output]);
  for (const { buffer } of [...tensors, output]) buffer.destroy();
  if (result === undefined) throw new Error('no result');
  return bits(result);
}
