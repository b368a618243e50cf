import { expect, test } from 'vitest';
import { applyMask, backgroundRemoval, type BackgroundRemovalOptions } from '../index.ts';
import { resize } from '../pictures/resize.ts';
import { COLOUR_CLASSES, lightnessModel } from '../testing/segmentation-models.ts';
import { drawnPicture, formulaPicture } from '../testing/test-pictures.ts';

const open = (model: Uint8Array, options: BackgroundRemovalOptions = {}) =>
  backgroundRemoval(model, { device: 'host', ...options });

/** 11 x 9 levels that @huggingface/transformers 4.3.1 gives for `formulaPicture(22, 18)` before it resizes them. */
const TRANSFORMERS = [
  [
    { factor: 0.75 },
    [
      74, 111, 115, 71, 91, 128, 68, 88, 108, 97, 85, 80, 87, 94, 117, 77, 100, 107, 82, 74, 113,
      104, 101, 111, 73, 100, 110, 72, 114, 109, 87, 65, 91, 106, 103, 69, 66, 79, 124, 106, 103,
      84, 81, 79, 95, 96, 96, 112, 64, 97, 97, 81, 81, 114, 98, 117, 104, 107, 110, 82, 101, 88, 91,
      79, 98, 117, 106, 112, 102, 77, 115, 121, 95, 102, 124, 114, 88, 95, 88, 82, 107, 116, 93, 71,
      80, 105, 82, 92, 84, 97, 93, 105, 101, 98, 110, 74, 86, 99, 111,
    ],
  ],
  [
    { factor: 20, shift: 12 },
    [
      3, 104, 132, 2, 21, 204, 1, 15, 89, 35, 11, 6, 13, 27, 148, 4, 46, 82, 8, 3, 118, 65, 50, 107,
      3, 45, 99, 3, 128, 91, 13, 1, 21, 76, 62, 2, 1, 6, 189, 73, 59, 10, 7, 6, 31, 32, 32, 113, 1,
      35, 35, 7, 7, 123, 39, 143, 64, 82, 102, 8, 50, 15, 21, 6, 39, 146, 75, 113, 57, 4, 132, 171,
      31, 54, 187, 127, 16, 30, 16, 8, 80, 140, 25, 2, 6, 71, 8, 22, 10, 35, 24, 71, 52, 38, 99, 3,
      13, 41, 105,
    ],
  ],
] as const;

test.each(TRANSFORMERS)('levels of %o are those of transformers.js', async (numbers, levels) => {
  await using removal = await open(lightnessModel(numbers));
  const { data } = await removal.mask(formulaPicture(22, 18));
  const own = { width: 11, height: 9, data: Uint8Array.from(levels) };
  expect([...data]).toEqual([...resize(own, 22, 18, 'bilinear').data]);
});

/** Grey on the left, white on the right. */
const HALVES = drawnPicture(8, 4, [
  { left: 0, top: 0, width: 4, height: 4, colour: [100, 100, 100] },
]);

test('levels are rounded down, then resized', async () => {
  await using removal = await open(lightnessModel({ factor: 0.75 }));
  const { width, height, data } = await removal.mask(HALVES);
  expect([width, height]).toEqual([8, 4]);
  // 100 * 0.75, 255 * 0.75 = 191.25; Pillow's bilinear between them.
  expect([...data.subarray(0, 8)]).toEqual([75, 75, 75, 104, 162, 191, 191, 191]);
});

test('numbers beyond 0 and 1 go through a sigmoid first', async () => {
  await using removal = await open(lightnessModel({ factor: 20, shift: 12 }));
  const { data } = await removal.mask(HALVES);
  const sigmoid = (x: number): number => Math.trunc(255 / (1 + Math.exp(-x)));
  expect([data[0], data[7]]).toEqual([sigmoid((100 / 255) * 20 - 12), sigmoid(8)]);
});

test('a threshold makes edges hard, after resizing', async () => {
  await using removal = await open(lightnessModel({ factor: 0.75 }));
  const { data } = await removal.mask(HALVES, { threshold: 0.6 });
  expect([...data.subarray(0, 8)]).toEqual([0, 0, 0, 0, 255, 255, 255, 255]);
});

test('the picture keeps its colours, its background becomes transparent', async () => {
  await using removal = await open(lightnessModel());
  const picture = formulaPicture(6, 4);
  const { data, ...size } = await removal.apply(picture);
  expect(size).toEqual({ width: 6, height: 4 });
  const { data: alpha } = await removal.mask(picture);
  const expected = [...alpha].flatMap((level, i) => [
    ...picture.data.subarray(i * 3, i * 3 + 3),
    level,
  ]);
  expect([...data]).toEqual(expected);
});

test('a contained picture has its part of the mask', async () => {
  const pictures = { size: 16, fit: 'contain', padding: 255 } as const;
  await using removal = await open(lightnessModel(), { pictures });
  const { data } = await removal.mask(HALVES, { threshold: 0.9 });
  const row = [0, 0, 0, 0, 255, 255, 255, 255];
  expect([...data]).toEqual([row, row, row, row].flat());
});

test('a mask is resized as each channel of a picture is', () => {
  const { data } = formulaPicture(7, 5);
  const grey = { width: 7, height: 5, data: data.filter((_, i) => i % 3 === 0) };
  for (const [width, height] of [
    [3, 2],
    [11, 4],
    [7, 9],
  ] as const) {
    const red = resize(formulaPicture(7, 5), width, height, 'bicubic').data;
    const own = resize(grey, width, height, 'bicubic').data;
    expect(own).toEqual(red.filter((_, i) => i % 3 === 0));
  }
});

test('what is wrong is said', async () => {
  await using classes = await open(COLOUR_CLASSES);
  await expect(classes.mask(HALVES)).rejects.toThrow(
    'the result of the model: got float32 [1, 3, 4, 8], expected one mask [1, 1, rows, columns]. imageSegmenter takes models of several classes.',
  );
  await expect(classes.mask(HALVES, { threshold: 2 })).rejects.toThrow(
    'mask: got threshold 2, expected a number from 0 to 1.',
  );
  const mask = { width: 4, height: 8, data: new Uint8Array(32) };
  await expect(applyMask(HALVES, mask)).rejects.toThrow(
    'applyMask: got a mask of 4 x 8 in 32 bytes, expected 8 x 4, the size of the picture, in one byte a pixel.',
  );
});
