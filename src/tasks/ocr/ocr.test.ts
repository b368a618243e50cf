import { describe, expect, test } from 'vitest';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { cutRectangle } from '../../core/pictures/cut-rectangle.ts';
import type { Point } from '../../core/pictures/rectangle.ts';
import { writeOnnxModel } from '../../testing/onnx-writer.ts';
import { ocr } from '../index.ts';
import { BLUE, COLOUR_TEXT, patch, RED, WRITTEN } from '../testing/colour-text-model.ts';
import { drawnPicture, formulaPicture } from '../testing/test-pictures.ts';
import { readSteps } from './page-reader.ts';
import { alongText, turnedAround } from './along-text.ts';
import { convexHull, cornersOf, minAreaRectangle, textRegions } from './text-regions.ts';

describe('the smallest rectangle', () => {
  test('a hull has corners only', () => {
    const points: Point[] = [
      [0, 0],
      [2, 0],
      [1, 0],
      [2, 2],
      [1, 1],
      [0, 2],
    ];
    expect(convexHull(points)).toHaveLength(4);
  });

  test.each([-40, -10, 0, 15, 44])('of a rectangle that is turned by %d degrees', (degrees) => {
    const along: Point = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
    const given = { center: [50, 40], along, width: 30, height: 8 } as const;
    const inside: Point[] = [given.center, [49, 41]];
    const found = minAreaRectangle([...cornersOf(given), ...inside]);
    expect(found.width).toBeCloseTo(30, 9);
    expect(found.height).toBeCloseTo(8, 9);
    expect(found.along[0]).toBeCloseTo(along[0], 9);
    expect(found.along[1]).toBeCloseTo(along[1], 9);
    expect(cornersOf(found)[0]?.[0]).toBeCloseTo(cornersOf(given)[0]?.[0] ?? 0, 9);
  });

  test('an upright one is wider to the right than down only if it is', () => {
    const corners: Point[] = [
      [0, 0],
      [4, 0],
      [4, 20],
      [0, 20],
    ];
    expect(minAreaRectangle(corners)).toMatchObject({ width: 4, height: 20, along: [1, 0] });
  });
});

test('regions of a map grow by their area by their perimeter', () => {
  const [width, height] = [60, 40];
  const data = new Float32Array(width * height);
  const fill = (left: number, top: number, right: number, bottom: number, value: number): void => {
    for (let y = top; y <= bottom; y++) data.fill(value, y * width + left, y * width + right + 1);
  };
  fill(10, 10, 30, 15, 0.9);
  fill(40, 10, 55, 20, 0.4);
  fill(5, 30, 6, 31, 0.9);
  const options = { threshold: 0.3, boxThreshold: 0.6, unclip: 1.5 };
  const found = textRegions({ width, height, data }, options);
  // The second one is too unlikely, the third one too small.
  expect(found).toHaveLength(1);
  const grow = (20 * 5 * 1.5) / (2 * 25);
  expect(found[0]?.rectangle).toMatchObject({
    center: [20, 12.5],
    width: 20 + 2 * grow,
    height: 5 + 2 * grow,
  });
  expect(found[0]?.score).toBeCloseTo(0.9, 6);
});

test.each([
  [
    'a ring and what is in it',
    [
      '########',
      '#......#',
      '#.####.#',
      '#.####.#',
      '#.####.#',
      '#.####.#',
      '#......#',
      '########',
    ],
    [
      [3.5, 3.5],
      [3.5, 3.5],
    ],
  ],
  ['arms that meet below', ['##...##', '##...##', '##...##', '#######', '#######'], [[3, 2]]],
  ['arms that meet above', ['#######', '#######', '##...##', '##.#.##', '##...##'], [[3, 2]]],
  [
    'corners',
    [
      '####....',
      '####....',
      '####....',
      '####....',
      '....####',
      '....####',
      '....####',
      '....####',
    ],
    [[3.5, 3.5]],
  ],
  [
    'a gap of a pixel',
    ['####.####', '####.####', '####.####', '####.####'],
    [
      [1.5, 1.5],
      [6.5, 1.5],
    ],
  ],
] as const)('pixels that touch are one region: %s', (_, rows, centers) => {
  const [width, height] = [rows[0].length, rows.length];
  const data = Float32Array.from(rows.join(''), (pixel) => (pixel === '#' ? 0.9 : 0));
  const options = { threshold: 0.3, boxThreshold: 0.1, unclip: 3 };
  const found = textRegions({ width, height, data }, options);
  const rounded = found.map(({ rectangle }) =>
    rectangle.center.map((at) => Math.round(at * 2) / 2),
  );
  expect(rounded).toEqual(centers);
});

test('a line is cut out as it is where nothing is turned', () => {
  const picture = drawnPicture(20, 10, [
    { left: 5, top: 3, width: 8, height: 4, colour: [10, 20, 30] },
  ]);
  const cut = cutRectangle(picture, { center: [8.5, 4.5], along: [1, 0], width: 8, height: 4 });
  expect(cut).toMatchObject({ width: 8, height: 4 });
  expect(cut.data.every((value, i) => value === [10, 20, 30][i % 3])).toBe(true);
});

test('upright text is read downwards', () => {
  const data = Uint8Array.from({ length: 12 }, (_, i) => Math.floor(i / 3));
  const column = { width: 1, height: 4, data };
  const rectangle = { center: [0, 1.5], along: [1, 0], width: 1, height: 4 } as const;
  const cut = cutRectangle(column, alongText(rectangle));
  expect(cut).toMatchObject({ width: 4, height: 1 });
  expect(Array.from(cut.data).filter((_, i) => i % 3 === 0)).toEqual([0, 1, 2, 3]);
});

test.each([
  ['straight', { center: [20.5, 11.5], along: [1, 0], width: 30, height: 12 }],
  ['tilted', { center: [20.2, 12.7], along: [Math.cos(0.3), Math.sin(0.3)], width: 25, height: 7 }],
  ['beyond the picture', { center: [2, 3], along: [1, 0], width: 9, height: 13 }],
] as const)('a line upside down has the pixels of the same line in reverse: %s', (_, rectangle) => {
  const picture = formulaPicture(40, 24);
  const pixels = ({ data }: { readonly data: Uint8Array }) =>
    Array.from({ length: data.length / 3 }, (_, i) => [...data.subarray(i * 3, i * 3 + 3)]);
  expect(pixels(cutRectangle(picture, turnedAround(rectangle)))).toEqual(
    pixels(cutRectangle(picture, rectangle)).toReversed(),
  );
});

test('steps become text: equal ones in a row count once, unless a blank is between them', () => {
  const steps = [1, 1, 0, 1, 2, 0, 0, 2].flatMap((best) =>
    [0, 1, 2].map((c) => (c === best ? 0.8 : 0.1)),
  );
  const { text, score } = readSteps(Float32Array.from(steps), ['', 'a', 'b']);
  expect(text).toBe('aabb');
  expect(score).toBeCloseTo(0.8, 6);
  expect(readSteps(Float32Array.of(0.9, 0.1, 0), ['', 'a', 'b'])).toEqual({ text: '', score: 0 });
});

test('a line that a blank had cut has one box', async () => {
  const cut = drawnPicture(160, 60, [
    patch(16, 20, RED),
    patch(32, 20, RED),
    patch(70, 20, BLUE),
    patch(86, 20, BLUE),
  ]);
  await using reader = await ocr(COLOUR_TEXT, { device: 'wasm' });
  const { text, lines } = await reader.read(cut);
  expect(text).toBe('r b');
  expect(lines).toHaveLength(1);
  expect(lines[0]?.box.left).toBeLessThan(16);
  expect((lines[0]?.box.left ?? 0) + (lines[0]?.box.width ?? 0)).toBeGreaterThan(102);
});

test('a picture is read, each line with its box', async () => {
  await using reader = await ocr(COLOUR_TEXT, { device: 'wasm' });
  const { text, lines } = await reader.read(WRITTEN);
  expect(text).toBe('rb g\ngrb');
  expect(lines.map(({ row, text: read }) => [row, read])).toEqual([
    [0, 'rb'],
    [0, 'g'],
    [1, 'grb'],
  ]);
  const box = lines[2]?.box ?? { left: 0, top: 0, width: 0, height: 0 };
  // Around the patches by their area by their perimeter, with the pixels of the map.
  const grow = (48 * 12 * 1.6) / (2 * 60);
  for (const [edge, at, by] of [
    [box.left, 40, -1],
    [box.top, 60, -1],
    [box.left + box.width, 88, 1],
    [box.top + box.height, 72, 1],
  ] as const) {
    expect(Math.abs((edge - at) * by - grow)).toBeLessThan(1);
  }
  expect(await reader.read(drawnPicture(40, 40, []))).toEqual({ text: '', lines: [] });
});

test('a line upside down is turned over where a model says so', async () => {
  const over = writeOnnxModel({
    nodes: [
      {
        op: 'ReduceMean',
        inputs: ['x'],
        outputs: ['mean'],
        attributes: { axes: [1, 2, 3], keepdims: 0 },
      },
      { op: 'Mul', inputs: ['mean', 'zero'], outputs: ['none'] },
      { op: 'Unsqueeze', inputs: ['none', 'one'], outputs: ['column'] },
      { op: 'Add', inputs: ['column', 'scores'], outputs: ['y'] },
    ],
    opset: 13,
    inputs: [{ name: 'x', dtype: 'float32', shape: ['n', 3, 48, 192] }],
    outputs: ['y'],
    initializers: {
      zero: HostTensor.from('float32', [1], [0]),
      one: HostTensor.from('int64', [1], [1n]),
      scores: HostTensor.from('float32', [2], [0.05, 0.95]),
    },
  });
  await using reader = await ocr({ ...COLOUR_TEXT, orientation: over }, { device: 'wasm' });
  const { lines } = await reader.read(WRITTEN);
  // The page is upside down, so its last row is read first.
  expect(lines.map(({ text }) => text)).toEqual(['brg', 'g', 'br']);
});

test('a dictionary of another model, an unknown option, a signal', async () => {
  const wrong = { ...COLOUR_TEXT, dictionary: ['a'] };
  await expect(ocr(wrong, { device: 'host' })).rejects.toThrow(
    'dictionary: got 1 characters, expected 2 or 3, for a model with 4 classes, one of them blank. Use the dictionary that belongs to the recognition model.',
  );
  await using reader = await ocr(COLOUR_TEXT, { device: 'host' });
  await expect(reader.read(WRITTEN, { unclip: -1 })).rejects.toThrow(
    'read: got unclip -1, expected a number above 0.',
  );
  const signal = AbortSignal.abort(new Error('enough'));
  await expect(reader.read(WRITTEN, { signal })).rejects.toThrow('enough');
});
