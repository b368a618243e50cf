import { nodeGpu } from './node-gpu.ts';

/** A device as a page requests one, and what was made on it since. */
export interface PageDevice {
  readonly gpuDevice: GPUDevice;
  /** Buffers that were made and not destroyed. */
  readonly live: ReadonlySet<GPUBuffer>;
  /** Usages of all buffers that were made, and methods that copied something to the GPU. */
  readonly usages: number[];
  readonly uploads: string[];
}

/** Watches what everybody makes on a device of the page's own, with the limits that a page gets without asking. */
export async function openPageDevice(): Promise<PageDevice> {
  const adapter = await (await nodeGpu()).requestAdapter();
  if (adapter === null) throw new Error('no adapter');
  const gpuDevice = await adapter.requestDevice();
  const live = new Set<GPUBuffer>();
  const usages: number[] = [];
  const uploads: string[] = [];
  const create = gpuDevice.createBuffer.bind(gpuDevice);
  gpuDevice.createBuffer = (descriptor) => {
    const buffer = create(descriptor);
    live.add(buffer);
    usages.push(descriptor.usage);
    const destroy = buffer.destroy.bind(buffer);
    buffer.destroy = () => {
      live.delete(buffer);
      return destroy();
    };
    return buffer;
  };
  const { queue } = gpuDevice;
  const writeTexture = queue.writeTexture.bind(queue);
  queue.writeTexture = (...args: Parameters<GPUQueue['writeTexture']>) => {
    uploads.push('writeTexture');
    return writeTexture(...args);
  };
  return { gpuDevice, live, usages, uploads };
}

/** A buffer of the page's that holds numbers. */
export function bufferOf(
  device: GPUDevice,
  numbers: readonly number[],
  { byteOffset = 0, usage = 0x80 | 0x04 | 0x08 }: { byteOffset?: number; usage?: number } = {},
): GPUBuffer {
  const size = byteOffset + Math.ceil(numbers.length / 4) * 16;
  const buffer = device.createBuffer({ size, usage });
  device.queue.writeBuffer(buffer, byteOffset, Float32Array.from(numbers));
  return buffer;
}

/** Numbers in a part of a buffer, read as a page does. */
export async function numbersIn(
  device: GPUDevice,
  buffer: GPUBuffer,
  [byteOffset, byteLength]: readonly [number, number],
): Promise<number[]> {
  const staging = device.createBuffer({ size: byteLength, usage: 0x01 | 0x08 });
  const encoder = device.createCommandEncoder();
  encoder.copyBufferToBuffer(buffer, byteOffset, staging, 0, byteLength);
  device.queue.submit([encoder.finish()]);
  await staging.mapAsync(1);
  const numbers = [...new Float32Array(staging.getMappedRange().slice(0))];
  staging.destroy();
  return numbers;
}
