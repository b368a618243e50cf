import { expect, test } from 'vitest';
import {
  type AnchorGrid,
  anchorsOf,
  decodeDetections,
  type Detection,
  mergeDetections,
  placedDetection,
} from './detections.ts';

const SHORT: AnchorGrid = {
  side: 128,
  layers: [
    [8, 2],
    [16, 6],
  ],
};

test('anchors are the middles of cells, row by row, as often as a cell has boxes', () => {
  const anchors = anchorsOf(SHORT);
  expect(anchors).toHaveLength(16 * 16 * 2 + 8 * 8 * 6);
  expect(anchors[0]).toEqual([1 / 32, 1 / 32]);
  expect(anchors[1]).toEqual([1 / 32, 1 / 32]);
  expect(anchors[2]).toEqual([3 / 32, 1 / 32]);
  expect(anchors[32]).toEqual([1 / 32, 3 / 32]);
  expect(anchors[512]).toEqual([1 / 16, 1 / 16]);
  expect(anchors.at(-1)).toEqual([15 / 16, 15 / 16]);
});

test('boxes and points are pixels from the anchor on, scores logits', () => {
  const anchors = [
    [0.25, 0.5],
    [0.75, 0.5],
  ] as const;
  const boxes = [0, 0, 0, 0, 0, 0, 10, -20, 50, 40, 5, 10];
  const options = { anchors, side: 100, threshold: 0.5 };
  const [found, ...others] = decodeDetections({ boxes, logits: [-1, Math.log(4)] }, options);
  expect(others).toEqual([]);
  expect(found?.score).toBeCloseTo(0.8);
  expect(found?.box.left).toBeCloseTo(0.75 + 0.1 - 0.25);
  expect(found?.box.top).toBeCloseTo(0.5 - 0.2 - 0.2);
  expect([found?.box.width, found?.box.height]).toEqual([0.5, 0.4]);
  expect(found?.points[0]?.[0]).toBeCloseTo(0.8);
  expect(found?.points[0]?.[1]).toBeCloseTo(0.6);
});

test('a logit that overflows is a score of 1', () => {
  const options = { anchors: [[0, 0]], side: 1, threshold: 0.5 } as const;
  expect(decodeDetections({ boxes: [0, 0, 1, 1], logits: [1e4] }, options)[0]?.score).toBe(1);
  expect(decodeDetections({ boxes: [0, 0, 1, 1], logits: [-1e4] }, options)).toEqual([]);
});

const at = (left: number, score: number): Detection => ({
  box: { left, top: 0, width: 10, height: 10 },
  points: [[left, 5]],
  score,
});

test('what overlaps the best becomes a mean by scores, with its score', () => {
  const [first, second, ...others] = mergeDetections([at(2, 0.3), at(50, 0.7), at(0, 0.9)], 0.3);
  expect(others).toEqual([]);
  expect(first?.score).toBe(0.9);
  expect(first?.box.left).toBeCloseTo((2 * 0.3) / (0.3 + 0.9));
  expect(first?.points[0]?.[0]).toBeCloseTo(0.5);
  expect(second).toEqual(at(50, 0.7));
});

test('a chain of overlaps is not one thing: only what overlaps the best is merged', () => {
  expect(mergeDetections([at(0, 0.9), at(5, 0.8), at(10, 0.7)], 0.3)).toHaveLength(2);
});

test('a detection in a letterbox lies where the picture is', () => {
  const region = { center: [320, 240], width: 640, height: 640, angle: 0 } as const;
  const box = { left: 0.5, top: 0.5, width: 0.25, height: 0.125 };
  expect(placedDetection({ box, points: [[0.5, 0.125]], score: 1 }, region)).toEqual({
    box: { left: 320, top: 240, width: 160, height: 80 },
    points: [[320, 0]],
    score: 1,
  });
});
