import { afterAll, expect, test } from 'vitest';
import { type LoadOptions, Session } from '../../../client/index.ts';
import type { Pixels } from '../../../core/pictures/pixels.ts';
import { type RegionSteps, sampleRegion } from '../../../core/pictures/sample-region.ts';
import { sharedNodeGpu } from '../../../testing/node-gpu.ts';
import { ownGpu } from '../../../testing/own-gpu.ts';
import { COLOURS } from '../../testing/colours-model.ts';
import { formulaPicture } from '../../testing/test-pictures.ts';
import { sampleRegions } from './region-model.ts';

const sessions: Session[] = [];
afterAll(async () => {
  await Promise.all(sessions.map((session) => session.dispose()));
});

/** Three rows of two grey pixels. */
const SMALL: Pixels = { width: 2, height: 3, data: Uint8Array.of(0, 100, 40, 200, 80, 240) };
const UPRIGHT: RegionSteps = {
  size: [2, 1],
  begin: [0.5, 0.5],
  across: [1, 0],
  down: [0, 1],
  factor: 1,
  shift: 0,
  isBlackOutside: true,
  isLast: true,
};

test('middles of pixels are their own levels, points between are interpolated', () => {
  expect([...sampleRegion(SMALL, UPRIGHT)]).toEqual([0, 0, 0, 100, 100, 100]);
  // Half a pixel to the right, and a quarter down.
  const between = sampleRegion(SMALL, { ...UPRIGHT, size: [1, 1], begin: [1, 0.75] });
  expect(between[0]).toBe(0.75 * 50 + 0.25 * 120);
});

test('a quarter turn reads columns upwards, by channels where these come first', () => {
  const turned = { ...UPRIGHT, size: [3, 1], begin: [0.5, 2.5], across: [0, -1] } as const;
  const elements = sampleRegion(SMALL, { ...turned, isLast: false, factor: 0.5, shift: -1 });
  expect([...elements]).toEqual([39, 19, -1, 39, 19, -1, 39, 19, -1]);
});

test('beyond the picture it is black, or its edge goes on', () => {
  const beyond = { ...UPRIGHT, size: [1, 1], begin: [5, 0.5], shift: 7 } as const;
  expect(sampleRegion(SMALL, beyond)[0]).toBe(7);
  expect(sampleRegion(SMALL, { ...beyond, isBlackOutside: false })[0]).toBe(107);
});

const TURNED: RegionSteps = {
  size: [13, 9],
  begin: [-3.2, 5.1],
  across: [3.1, 1.2],
  down: [-1.7, 2.9],
  factor: 2 / 255,
  shift: -1,
  isBlackOutside: true,
  isLast: true,
};
/** Coordinates below 64 are off by 2^-18 after each of three steps in float32, elements by up to twice that. */
const ROUNDING = 3 * 2 * 2 ** -18;
const REGIONS = [TURNED, { ...TURNED, isBlackOutside: false, isLast: false }];

test.each<[string, () => Promise<LoadOptions>]>([
  ['wasm', async () => ({ device: 'wasm' })],
  [
    'wasm that is shared',
    async () => ({ device: 'wasm', worker: false, gpu: await ownGpu(), pin: true }),
  ],
  ['WebGPU', async () => ({ device: 'webgpu', worker: false, gpu: await sharedNodeGpu() })],
])('on %s regions are those of the processor but for roundings', async (_, placeOf) => {
  const session = await Session.load(COLOURS, await placeOf());
  sessions.push(session);
  const picture = formulaPicture(40, 30);
  const { tensors, size } = await sampleRegions(session, picture, () => REGIONS, {});
  expect(size).toEqual({ width: 40, height: 30 });
  for (const [i, tensor] of tensors.entries()) {
    const steps = REGIONS[i] ?? TURNED;
    expect(tensor.shape).toEqual(steps.isLast ? [1, 9, 13, 3] : [1, 3, 9, 13]);
    const read = 'read' in tensor ? await tensor.read() : tensor;
    const expected = sampleRegion(picture, steps);
    const most = Math.max(...expected.map((value, k) => Math.abs(value - Number(read.data[k]))));
    expect(most).toBeLessThan(ROUNDING);
    if ('dispose' in tensor) tensor.dispose();
  }
  expect((await session.memory()).liveBytes).toBe(0);
});
