import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { DrawnElements } from '../../../core/tensor/drawn-elements.ts';
import type { DType } from '../../../core/tensor/dtype.ts';
import { numberToFloat16 } from '../../../core/tensor/float16.ts';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { seededRandom } from '../../../core/random.ts';
import { nodeGpu } from '../../../testing/node-gpu.ts';
import { pixelsOf } from '../../../worker/pictures/draw-tensor.ts';
import { uploadTensor } from '../../testing/device-tensors.ts';
import { openTestDevice, type TestDevice } from '../testing/test-device.ts';

const WIDTH = 7;
const HEIGHT = 5;
/** Bytes between rows of a texture in a buffer. */
const ROW = 256;

let opened: TestDevice;
let target: GPUTexture;

/** Draws into a texture of this test. */
class FakeCanvas {
  width = 0;
  height = 0;
  getContext() {
    return { configure: () => undefined, getCurrentTexture: () => target };
  }
  transferToImageBitmap() {
    return { close: () => undefined };
  }
}

beforeAll(async () => {
  vi.stubGlobal('OffscreenCanvas', FakeCanvas);
  opened = await openTestDevice(await nodeGpu(), {});
  const usage = 0x10 | 0x01;
  target = opened.gpuDevice.createTexture({ size: [WIDTH, HEIGHT], format: 'rgba8unorm', usage });
});

afterAll(() => {
  opened.device.destroy();
  vi.unstubAllGlobals();
});

async function drawn(tensor: HostTensor, elements: DrawnElements): Promise<number[]> {
  const { device, gpuDevice } = opened;
  await device.pictures.draw(uploadTensor(device, tensor), elements);
  expect(device.counters().readbacks).toBe(0);
  const buffer = gpuDevice.createBuffer({ size: ROW * HEIGHT, usage: 0x01 | 0x08 });
  const encoder = gpuDevice.createCommandEncoder();
  encoder.copyTextureToBuffer({ texture: target }, { buffer, bytesPerRow: ROW }, [WIDTH, HEIGHT]);
  gpuDevice.queue.submit([encoder.finish()]);
  await buffer.mapAsync(1);
  const bytes = new Uint8Array(buffer.getMappedRange());
  const rows = Array.from({ length: HEIGHT }, (_, y) => [
    ...bytes.subarray(y * ROW, y * ROW + WIDTH * 4),
  ]);
  buffer.destroy();
  return rows.flat();
}

function randomTensor(dtype: DType, channels: number): HostTensor {
  const random = seededRandom(channels);
  const numbers = Array.from({ length: channels * WIDTH * HEIGHT }, () => random() * 1.4 - 0.2);
  const shape = [1, channels, HEIGHT, WIDTH];
  if (dtype === 'uint8')
    return new HostTensor(
      dtype,
      shape,
      Uint8Array.from(numbers, (n) => n * 180 + 40),
    );
  if (dtype === 'float16')
    return new HostTensor(dtype, shape, Uint16Array.from(numbers, numberToFloat16));
  return new HostTensor(dtype, shape, Float32Array.from(numbers));
}

const PLANE = WIDTH * HEIGHT;
const COLOURS: DrawnElements = {
  width: WIDTH,
  height: HEIGHT,
  pixelStep: 1,
  begins: [0, PLANE, 2 * PLANE],
  factors: [1, 0.9, 0.5],
  shifts: [0, 0.12, 0.25],
  hasSigmoid: false,
  isOpacity: false,
};
const GREY = { ...COLOURS, begins: [0, 0, 0] } as const;

test.each<[string, DType, number, DrawnElements]>([
  ['planes', 'float32', 3, COLOURS],
  ['planes', 'float16', 3, COLOURS],
  ['planes', 'uint8', 3, { ...COLOURS, factors: [1 / 255, 1 / 200, 1 / 300] }],
  ['channels last', 'float32', 3, { ...COLOURS, pixelStep: 3, begins: [2, 1, 0] }],
  [
    'channels last',
    'uint8',
    3,
    { ...COLOURS, pixelStep: 3, begins: [0, 1, 2], factors: [1 / 255, 1 / 255, 1 / 255] },
  ],
  ['grey of logits', 'float32', 1, { ...GREY, hasSigmoid: true }],
  ['opacity', 'float16', 1, { ...GREY, isOpacity: true }],
])('%s of %s are drawn as on the processor', async (_, dtype, channels, elements) => {
  const tensor = randomTensor(dtype, channels);
  const expected = [...pixelsOf(tensor, elements)];
  const found = await drawn(tensor, elements);
  const most = Math.max(...found.map((level, i) => Math.abs(level - (expected[i] ?? 0))));
  // A level that lies between two of them goes either way.
  expect(most).toBeLessThanOrEqual(1);
  expect(found.filter((level, i) => level !== expected[i]).length).toBeLessThan(4);
});

test('a picture larger than textures is refused', async () => {
  const tensor = uploadTensor(opened.device, randomTensor('float32', 1));
  const elements = { ...GREY, width: 1e6 };
  await expect(opened.device.pictures.draw(tensor, elements)).rejects.toThrow(
    'the picture that is drawn: got 1000000 x 5 pixels, expected at most ',
  );
});
