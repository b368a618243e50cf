import { expect, test } from 'vitest';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { saysBoxes, saysLandmarks } from '../testing/live-models.ts';
import { FACE_PARTS, refinedFace } from './points/face-parts.ts';
import { faceDetector } from './face-detector.ts';
import { faceLandmarker } from './face-landmarker.ts';
import { headPose } from './points/head-pose.ts';
import type { Landmark } from './points/landmarks.ts';

const WHITE = { width: 128, height: 128, data: new Uint8Array(128 * 128).fill(255) };

/** A face of 40 x 40 pixels in the middle, with level eyes. */
const FACE = {
  anchor: (8 * 16 + 8) * 2,
  numbers: [-4, -4, 40, 40, -14, -9, 6, -9, -4, 0, -4, 8, -22, -5, 14, -5],
  logit: Math.log(9),
};
const DETECTOR = saysBoxes({ anchors: 896, row: 16, side: 128 }, [FACE]);

test('a face has its box and points in pixels', async () => {
  const faces = await faceDetector(DETECTOR, { device: 'wasm' });
  const { faces: found } = await faces.detect(WHITE);
  await faces.dispose();
  expect(found).toHaveLength(1);
  expect(found[0]?.score).toBeCloseTo(0.9);
  const { box, points } = found[0] ?? {};
  expect(box?.left).toBeCloseTo(44);
  expect(box?.top).toBeCloseTo(44);
  expect(points?.rightEye[0]).toBeCloseTo(54);
  expect(points?.leftEye[0]).toBeCloseTo(74);
  expect(points?.leftEar[1]).toBeCloseTo(63);
});

const constant = (numbers: readonly number[]): HostTensor =>
  HostTensor.from('float32', [1, 1, 1, numbers.length], numbers);

test('a model with attention gives 478 points, those of its parts from their own outputs', async () => {
  const mesh = Array.from({ length: 468 }, (_, i): number[] => [96, 96, i]).flat();
  const parts = FACE_PARTS.map(({ numbers }, i) => numbers.flatMap(() => [96 + 6 * (i + 1), 96]));
  const landmarks = saysLandmarks(192, {
    mesh: constant(mesh),
    ...Object.fromEntries(parts.map((numbers, i) => [`part${i}`, constant(numbers)])),
    flag: constant([2]),
  });
  const faces = await faceLandmarker({ detector: DETECTOR, landmarks }, { device: 'wasm' });
  const { faces: found } = await faces.detect(WHITE);
  await faces.dispose();
  const [face] = found;
  expect(face?.landmarks).toHaveLength(478);
  expect(face?.presence).toBeCloseTo(1 / (1 + Math.exp(-2)));
  // The region is 60 pixels wide around the middle; 192 pixels of the model are 60 of the picture.
  const scale = 60 / 192;
  const at = (number: number) => face?.landmarks[number];
  expect(at(1)).toEqual({ x: expect.closeTo(64), y: expect.closeTo(64), z: expect.closeTo(scale) });
  // Lips, the eye on the left, and the iris there; depths are those of the mesh.
  expect(at(61)?.x).toBeCloseTo(64 + 6 * scale);
  expect(at(61)?.z).toBeCloseTo(61 * scale);
  expect(at(33)?.x).toBeCloseTo(64 + 12 * scale);
  expect(at(468)?.x).toBeCloseTo(64 + 24 * scale);
  const eye = [33, 7, 163, 144, 145, 153, 154, 155, 133, 246, 161, 160, 159, 158, 157, 173];
  expect(at(468)?.z).toBeCloseTo((scale * eye.reduce((sum, number) => sum + number, 0)) / 16, 3);
});

test('each point belongs to one part', () => {
  const all = FACE_PARTS.flatMap(({ numbers }) => numbers);
  expect(FACE_PARTS.map(({ numbers }) => numbers.length)).toEqual([80, 71, 71, 5, 5]);
  expect(new Set(all).size).toBe(all.length);
  const mesh = Array.from({ length: 468 }, () => ({ x: 0, y: 0, z: 0 }));
  const parts = FACE_PARTS.map(({ numbers }) => numbers.map((x) => ({ x, y: 1, z: 2 })));
  const refined = refinedFace(mesh, parts);
  expect(refined).toHaveLength(478);
  for (const number of all) expect(refined[number]).toEqual({ x: number, y: 1, z: 0 });
});

/** A face whose points are those of its own axes, placed by a turn around the vertical axis. */
function turnedFace(angle: number): Landmark[] {
  const own: Record<number, readonly [number, number, number]> = {
    33: [-1, 0, 0],
    263: [1, 0, 0],
    133: [-0.4, 0, 0.2],
    362: [0.4, 0, 0.2],
    127: [-1.6, 0, -1],
    356: [1.6, 0, -1],
    234: [-1.7, -0.5, -1.2],
    454: [1.7, -0.5, -1.2],
    162: [-1.6, 0.5, -1],
    389: [1.6, 0.5, -1],
    93: [-1.5, -1, -1],
    323: [1.5, -1, -1],
    10: [0, 2, 0],
    152: [0, -2.4, 0],
  };
  return Array.from({ length: 468 }, (_, i) => {
    const [x, y, z] = own[i] ?? [0, 0, 0];
    // Up is down in pictures, and depths grow away from the camera.
    return {
      x: 100 + 50 * (x * Math.cos(angle) + z * Math.sin(angle)),
      y: 80 - 50 * y,
      z: 50 * (x * Math.sin(angle) - z * Math.cos(angle)),
    };
  });
}

test('the pose of a head places its own coordinates in the picture', () => {
  const straight = headPose(turnedFace(0));
  const expected = [100, 0, 0, 0, 0, -100, 0, 0, 0, 0, -100, 0, 100, 80, 0, 1];
  for (const [i, value] of straight.entries()) expect(value).toBeCloseTo(expected[i] ?? NaN, 9);
  const turned = headPose(turnedFace(0.5));
  const [cos, sin] = [100 * Math.cos(0.5), 100 * Math.sin(0.5)];
  const matrix = [cos, 0, sin, 0, 0, -100, 0, 0, sin, 0, -cos, 0, 100, 80, 0, 1];
  for (const [i, value] of turned.entries()) expect(value).toBeCloseTo(matrix[i] ?? NaN, 9);
});
