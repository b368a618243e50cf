import { expect, test } from 'vitest';
import { CONCRETE_DIMS } from '../../core/dims/dim-context.ts';
import { volumeAxes, windowAxes } from './window.ts';
import { type Matrix, WINOGRAD_2, WINOGRAD_4 } from './winograd-filter.ts';
import { findWinograd } from './winograd.wasm.ts';

const times = (matrix: Matrix, values: readonly number[]): number[] =>
  matrix.map((row) => row.reduce((sum, factor, i) => sum + factor * (values[i] ?? 0), 0));

test.each([WINOGRAD_2, WINOGRAD_4])('filter %# is a correlation', ({ image, weights, output }) => {
  const signal = image.map((_, i) => [3, -1, 4, 1, -5, 9][i] ?? 0);
  const taps = [2, -7, 1];
  const points = times(weights, taps);
  const filtered = times(
    output,
    times(image, signal).map((value, i) => value * (points[i] ?? 0)),
  );
  for (const [at, value] of filtered.entries()) {
    const sum = taps.reduce((all, tap, i) => all + tap * (signal[at + i] ?? 0), 0);
    expect(value).toBeCloseTo(sum, 12);
  }
});

/** Rows of the tiles that a convolution of so many channels is computed in; 0 without any. */
function tileOf(
  [channels, outChannels, ...size]: readonly [number, number, number, number],
  {
    kernel = [3, 3],
    ...given
  }: { kernel?: number[]; strides?: number[]; dilations?: number[] } = {},
): number {
  const attributes = { strides: [], dilations: [], pads: [1, 1, 1, 1], ...given };
  const options = { name: 'conv2d', ceilMode: false, kernel, dims: CONCRETE_DIMS };
  const axes = volumeAxes(windowAxes([1, channels, ...size], attributes, options));
  return findWinograd({ axes, channels, outChannels })?.output.length ?? 0;
}

test.each([
  { what: 'a large image', sizes: [64, 64, 56, 56], tile: 4 },
  { what: 'few large tiles, which leave a panel half idle', sizes: [256, 256, 7, 7], tile: 2 },
  { what: 'many channels, whose rounding adds up', sizes: [257, 64, 56, 56], tile: 2 },
  { what: 'so few channels that transforms take longer', sizes: [2, 64, 56, 56], tile: 0 },
  { what: 'an image of hardly more than a tile', sizes: [256, 256, 5, 5], tile: 0 },
  { what: 'a line, of which tiles waste half', sizes: [64, 64, 1, 100], tile: 0 },
] as const)('$what: tiles of $tile', ({ sizes, tile }) => {
  expect(tileOf(sizes)).toBe(tile);
});

test('only windows of three by three that step by one without gaps', () => {
  const sizes = [64, 64, 56, 56] as const;
  expect(tileOf(sizes, { strides: [1, 2] })).toBe(0);
  expect(tileOf(sizes, { dilations: [2, 1] })).toBe(0);
  expect(tileOf(sizes, { kernel: [3, 5] })).toBe(0);
});
