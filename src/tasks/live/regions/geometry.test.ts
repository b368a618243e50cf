import { expect, test } from 'vitest';
import {
  angleAlong,
  expanded,
  fitted,
  pointIn,
  type Region,
  regionOfBox,
  regionSteps,
  squareAround,
  turnedBounds,
  wholeRegion,
} from './geometry.ts';

const close = (point: readonly number[], expected: readonly number[]): void => {
  expect(point).toHaveLength(expected.length);
  for (const [i, value] of point.entries()) expect(value).toBeCloseTo(expected[i] ?? NaN, 9);
};

const INPUT = {
  size: { width: 128, height: 128 },
  range: [-1, 1],
  isBlackOutside: true,
  isLast: true,
} as const;

test('a letterbox has the proportions of the model, and the picture in its middle', () => {
  const region = fitted(wholeRegion({ width: 640, height: 480 }), INPUT.size);
  expect(region).toEqual({ center: [320, 240], width: 640, height: 640, angle: 0 });
  // The picture begins an eighth of the height below the upper edge.
  close(pointIn(region, 0, 0.125), [0, 0]);
  close(pointIn(region, 1, 0.875), [640, 480]);
  const { begin, across, down, factor, shift } = regionSteps(region, INPUT);
  close(begin, [2.5, -77.5]);
  close(across, [5, 0]);
  close(down, [0, 5]);
  close([factor * 255 + shift, shift], [1, -1]);
});

test('the steps of a region that is turned to the right go down in the picture', () => {
  const region: Region = { center: [100, 50], width: 40, height: 20, angle: Math.PI / 2 };
  const steps = regionSteps(region, { ...INPUT, size: { width: 4, height: 2 } });
  // Its left upper corner lies at the upper right.
  close(pointIn(region, 0, 0), [110, 30]);
  close(steps.begin, [105, 35]);
  close(steps.across, [0, 10]);
  close(steps.down, [-10, 0]);
});

test('eyes that slope turn a face, fingers that point down turn a hand around', () => {
  expect(angleAlong([0, 0], [10, 10], 'right')).toBeCloseTo(Math.PI / 4);
  expect(angleAlong([5, 5], [5, -5], 'up')).toBeCloseTo(0);
  expect(angleAlong([5, 5], [15, 5], 'up')).toBeCloseTo(Math.PI / 2);
  expect(Math.abs(angleAlong([5, 5], [5, 15], 'up'))).toBeCloseTo(Math.PI);
});

test('a palm becomes a square of 2.6 times its longer side, half of its height up the hand', () => {
  const palm = regionOfBox({ left: 100, top: 200, width: 40, height: 60 }, 0);
  expect(expanded(palm, 2.6, -0.5)).toEqual({
    center: [120, 200],
    width: 156,
    height: 156,
    angle: 0,
  });
  const turned = expanded({ ...palm, angle: Math.PI / 2 }, 2.6, -0.5);
  // Up is to the right there.
  close(turned.center, [150, 230]);
});

test('bounds in the direction of a hand are tighter than upright ones', () => {
  const diagonal = [
    [0, 0],
    [10, 10],
    [5, 5],
  ] as const;
  const region = turnedBounds(diagonal, Math.PI / 4);
  close(region.center, [5, 5]);
  close([region.width, region.height], [Math.sqrt(200), 0]);
});

test('a body is the square around its hips that reaches the point above', () => {
  const square = squareAround([100, 100], [100, 40]);
  expect(square).toEqual({ center: [100, 100], width: 120, height: 120, angle: 0 });
});
