import { expect, test } from 'vitest';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { saysBoxes, saysLandmarks } from '../testing/live-models.ts';
import { poseLandmarker } from './pose-landmarker.ts';
import { refineByHeatmap } from './points/pose-points.ts';
import { pictureMask } from './regions/region-mask.ts';
import { selfieSegmenter } from './selfie-segmenter.ts';

test('a point moves to the mean of the cells around it, by their likelihoods', () => {
  // One point in a map of 16 x 16 cells, in a picture of 64 pixels.
  const logits = new Float32Array(256).fill(-50);
  logits[5 * 16 + 6] = Math.log(3); // 0.75
  logits[5 * 16 + 8] = 0; // 0.5
  const map = { logits, width: 16, height: 16 };
  const [x = 0, y = 0, z] = refineByHeatmap([28, 20, 9], { step: 3, side: 64 }, map);
  expect(x).toBeCloseTo(((6 * 0.75 + 8 * 0.5) / 1.25) * 4);
  expect(y).toBeCloseTo(20);
  expect(z).toBe(9);
  // Four cells away the map says nothing, beyond the map neither.
  expect([...refineByHeatmap([50, 20, 0], { step: 3, side: 64 }, map)]).toEqual([50, 20, 0]);
  expect([...refineByHeatmap([-3, 20, 0], { step: 3, side: 64 }, map)]).toEqual([-3, 20, 0]);
});

test('the mask of a region lies where the region does, turned as it is', () => {
  const shares = [0, 1, 0, 1];
  const region = { center: [2, 2], width: 4, height: 4, angle: 0 } as const;
  const upright = pictureMask({ shares, region, width: 2, height: 2 }, { width: 6, height: 4 });
  // A quarter of the way between the middles of cells, and nothing beyond.
  expect([...upright.data.subarray(0, 6)]).toEqual([0, 64, 191, 255, 0, 0]);
  const turned = { ...region, angle: Math.PI / 2 };
  const down = pictureMask(
    { shares, region: turned, width: 2, height: 2 },
    { width: 4, height: 4 },
  );
  expect([0, 1, 2, 3].map((row) => down.data[row * 4])).toEqual([0, 64, 191, 255]);
});

const WHITE = { width: 224, height: 224, data: new Uint8Array(224 * 224).fill(255) };
const constant = (shape: readonly number[], of: (i: number) => number): HostTensor => {
  const data = new Float32Array(shape.reduce((all, size) => all * size, 1)).map((_, i) => of(i));
  return new HostTensor('float32', shape, data);
};

test('a body has 33 points, a mask and a region from the two points behind them', async () => {
  // The hips in the middle of the picture, and a point 40 pixels above.
  const detector = saysBoxes({ anchors: 2254, row: 12, side: 224 }, [
    { anchor: (14 * 28 + 14) * 2, numbers: [0, 0, 9, 9, -4, -4, -4, -44, 0, 0, 0, 0], logit: 2 },
  ]);
  const side = 64;
  const landmarks = saysLandmarks(side, {
    points: constant(
      [1, 195],
      (i) => [32, i < 33 * 5 ? 16 : i < 34 * 5 ? 32 : 0, 8, 1, -1][i % 5] ?? 0,
    ),
    presence: 'mean',
    mask: constant([1, side, side, 1], (i) => (i % side < side / 2 ? 9 : -9)),
    maps: constant([1, 16, 16, 39], () => -9),
    world: constant([1, 117], (i) => i),
  });
  const poses = await poseLandmarker({ detector, landmarks }, { device: 'wasm', masks: true });
  const [pose] = (await poses.detect(WHITE)).poses;
  expect(pose?.landmarks).toHaveLength(33);
  // The square reaches 40 pixels in each direction, times 1.25: 100 pixels for 64 of the model.
  const [point] = pose?.landmarks ?? [];
  expect(point?.x).toBeCloseTo(112);
  expect(point?.y).toBeCloseTo(112 - 25);
  expect(point?.z).toBeCloseTo(12.5);
  expect(point?.visibility).toBeCloseTo(1 / (1 + Math.exp(-1)));
  expect(point?.presence).toBeCloseTo(1 / (1 + Math.exp(1)));
  expect(pose?.world[2]).toEqual({ x: 6, y: 7, z: 8 });
  const mask = pose?.mask?.();
  expect(mask?.width).toBe(224);
  const row = (mask?.data ?? []).slice(112 * 224, 113 * 224);
  expect([row[40], row[70], row[150], row[180]]).toEqual([0, 255, 0, 0]);

  async function* frames() {
    for (let i = 0; i < 3; i++) yield WHITE;
  }
  const places: unknown[] = [];
  for await (const { poses: found } of poses.watch(frames()))
    places.push(found[0]?.landmarks[0]?.x);
  await poses.dispose();
  expect(places).toEqual([point?.x, expect.closeTo(112), expect.closeTo(112)]);
});

test('a person is 255 in a mask of the size of the picture', async () => {
  const shares = constant([1, 16, 16, 1], (i) => (i < 128 ? 0 : 1));
  const selfies = await selfieSegmenter(saysLandmarks(16, { shares }), { device: 'wasm' });
  const { mask } = await selfies.detect({ width: 32, height: 64, data: new Uint8Array(32 * 64) });
  await selfies.dispose();
  const { width, height, data } = mask();
  expect([width, height, data[0], data[20 * 32], data[44 * 32], data[63 * 32]]).toEqual([
    32, 64, 0, 0, 255, 255,
  ]);
});
