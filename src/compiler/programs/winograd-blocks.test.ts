import { expect, test } from 'vitest';
import { createWebGpuDevice } from '../../device/webgpu/index.ts';
import { CORE_OPERATORS } from '../../ops/tables/core-operators.ts';
import { sharedNodeGpu } from '../../testing/node-gpu.ts';
import { f32, loadProgram } from '../testing/load-program.ts';

const CHANNELS = 64;
/** Each is computed at once; all of them take two blocks, the second of which is not whole. */
const PARTS = [27, 27, 27];
const COUNT = PARTS.reduce((a, b) => a + b);
const SIZES = [19, 21] as const;

function sequence(length: number, seed: number): number[] {
  return Array.from({ length }, (_, i) => Math.sin((i + 1) * (seed + 0.7)));
}

const TEXT = `def @main(%x: Tensor[(2, ${CHANNELS}, ${SIZES.join()}), float32], %w: Tensor[(k, ${CHANNELS}, 3, 3), float32], %b: Tensor[(k), float32]) {
  conv2d(%x, %w, %b, pads=[1, 1, 1, 1])
}`;

test('channels that a Winograd convolution computes in blocks are those that it computes at once', async () => {
  const device = await createWebGpuDevice({
    operators: CORE_OPERATORS,
    gpu: await sharedNodeGpu(),
    adapterClass: 'software',
  });
  const { run, vm } = await loadProgram(TEXT, { device });
  try {
    const x = f32([2, CHANNELS, ...SIZES], ...sequence(2 * CHANNELS * SIZES[0] * SIZES[1], 1));
    const weights = sequence(COUNT * CHANNELS * 9, 2);
    const bias = sequence(COUNT, 3);
    const convolve = async (first: number, count: number) => {
      const size = CHANNELS * 9;
      const w = f32(
        [count, CHANNELS, 3, 3],
        ...weights.slice(first * size, (first + count) * size),
      );
      const b = f32([count], ...bias.slice(first, first + count));
      return (await run('main', x, w, b)) as unknown[][];
    };
    const whole = await convolve(0, COUNT);
    let first = 0;
    for (const count of PARTS) {
      const part = await convolve(first, count);
      expect(whole.map((image) => image.slice(first, first + count))).toEqual(part);
      first += count;
    }
    expect(first).toBe(COUNT);
  } finally {
    vm.dispose();
    device.destroy();
  }
});
