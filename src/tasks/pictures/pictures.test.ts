import { describe, expect, test } from 'vitest';
import { numberToFloat16 } from '../../core/tensor/float16.ts';
import { formulaPicture } from '../testing/test-pictures.ts';
import type { PictureOptions, Size } from './picture-options.ts';
import { picturePlan } from './picture-plan.ts';
import { preparePictures } from './prepare-pictures.ts';
import { readRgb } from './pixels.ts';
import { readPreprocessorConfig } from './preprocessor-config.ts';
import { resize } from './resize.ts';

const hashOf = (bytes: Uint8Array): number =>
  bytes.reduce((hash, byte) => (hash * 31 + byte) % 1_000_003, 0);

/** 7 x 5 pixels at 3 x 2, and the hash of those at 11 x 4: `Image.resize` of Pillow 12.3.0. */
const PILLOW = [
  [
    'nearest',
    [128, 198, 12, 202, 50, 154, 20, 158, 40, 54, 158, 6, 128, 78, 28, 202, 254, 50],
    361828,
  ],
  [
    'box',
    [110, 129, 105, 117, 135, 182, 124, 143, 76, 82, 100, 119, 131, 149, 125, 139, 135, 131],
    164030,
  ],
  [
    'bilinear',
    [99, 141, 113, 129, 137, 159, 129, 144, 105, 106, 125, 109, 118, 141, 123, 128, 130, 125],
    41581,
  ],
  [
    'hamming',
    [97, 139, 109, 141, 134, 172, 118, 151, 89, 99, 116, 104, 123, 144, 123, 138, 139, 120],
    893861,
  ],
  [
    'bicubic',
    [95, 142, 110, 130, 138, 170, 133, 144, 101, 110, 125, 108, 116, 142, 122, 126, 126, 127],
    881519,
  ],
  [
    'lanczos',
    [91, 144, 107, 128, 139, 172, 139, 142, 101, 115, 129, 109, 114, 141, 117, 123, 123, 129],
    901801,
  ],
] as const;

test.each(PILLOW)('%s has the bytes of Pillow', (resampling, small, large) => {
  const picture = formulaPicture(7, 5);
  expect(Array.from(resize(picture, 3, 2, resampling).data)).toEqual(small);
  expect(hashOf(resize(picture, 11, 4, resampling).data)).toBe(large);
});

/**
 * Expected sizes are those of `get_resize_output_image_size` of @huggingface/transformers 4.3.1.
 */
test.each<[number, number, unknown, number, number]>([
  [7, 5, { shortest_edge: 224 }, 313, 224],
  [640, 480, { shortest_edge: 224 }, 298, 224],
  [333, 1000, { shortest_edge: 800, longest_edge: 1333 }, 443, 1333],
  [1000, 333, { longest_edge: 512 }, 512, 170],
  [499, 373, 224, 224, 167],
  [97, 55, { shortest_edge: 256 }, 451, 256],
  [97, 55, { width: 20, height: 30 }, 20, 30],
])('%d x %d at %o is %d x %d', (width, height, size, wide, high) => {
  const options = readPreprocessorConfig({ size });
  expect(picturePlan({ width, height }, options).resized).toEqual({ width: wide, height: high });
});

test('crop, normalisation, padding and BGR are those of the image processor of transformers.js', async () => {
  const options = readPreprocessorConfig({
    do_resize: false,
    do_normalize: true,
    image_mean: [0.485, 0.456, 0.406],
    image_std: [0.229, 0.224, 0.225],
    do_center_crop: true,
    crop_size: { width: 3, height: 3 },
    do_pad: true,
    pad_size: { width: 4, height: 5 },
    do_flip_channel_order: true,
  });
  const { tensor } = await preparePictures([formulaPicture(7, 5)], options);
  expect(tensor.shape).toEqual([1, 3, 5, 4]);
  // Of 4.3.1: the first row of each plane.
  expect(Array.from(tensor.data as ArrayLike<number>).slice(0, 4)).toEqual([
    -0.3578213155269623, 0.8796515464782715, 2.117124319076538, 0,
  ]);
  expect(Array.from(tensor.data as ArrayLike<number>).slice(20, 24)).toEqual([
    2.3760504722595215, -1.1603641510009766, -0.21498596668243408, 0,
  ]);
  expect(Array.from(tensor.data as ArrayLike<number>).slice(40, 44)).toEqual([
    0.7076805233955383, 1.3412964344024658, 1.9749122858047485, 0,
  ]);
  expect(Array.from(tensor.data as ArrayLike<number>).slice(12, 20)).toEqual(Array(8).fill(0));
});

describe('cover and contain', () => {
  const WIDE: Size = { width: 40, height: 20 };

  test('cover cuts off evenly', () => {
    const plan = picturePlan(WIDE, { size: 10, fit: 'cover' });
    expect(plan.resized).toEqual({ width: 20, height: 10 });
    expect(plan.frame).toEqual({ width: 10, height: 10, left: -5, top: 0 });
  });

  test('contain fills what is missing, and places lead back', async () => {
    const picture = { width: 4, height: 2, data: new Uint8Array(24).fill(200) };
    const options: PictureOptions = { size: 4, fit: 'contain', padding: [1, 2, 3], dtype: 'uint8' };
    const { tensor, places } = await preparePictures([picture], options);
    expect(Array.from(tensor.data as ArrayLike<number>)).toEqual(
      [1, 2, 3].flatMap((fill) => [
        ...Array<number>(4).fill(fill),
        ...Array<number>(8).fill(200),
        ...Array<number>(4).fill(fill),
      ]),
    );
    expect(places[0]?.toSource(2, 1)).toEqual([2, 0]);
    expect(places[0]?.toSource(4, 3)).toEqual([4, 2]);
    const below = picturePlan(WIDE, { size: 10, fit: 'contain', position: 'top left' });
    expect(below.frame).toEqual({ width: 10, height: 10, left: 0, top: 0 });
  });

  test('multiples are rounded down', () => {
    const plan = picturePlan({ width: 100, height: 70 }, { multipleOf: 32 });
    expect(plan.resized).toEqual({ width: 96, height: 64 });
  });
});

test('layouts, channels and dtypes', async () => {
  const picture = { width: 2, height: 1, data: Uint8Array.of(10, 20, 30, 40, 50, 60) };
  const elements = async (options: PictureOptions) => {
    const { tensor } = await preparePictures([picture], options);
    return [tensor.shape, Array.from(tensor.data as ArrayLike<number>)];
  };
  const raw = { dtype: 'uint8' } as const;
  expect(await elements(raw)).toEqual([
    [1, 3, 1, 2],
    [10, 40, 20, 50, 30, 60],
  ]);
  expect(await elements({ ...raw, layout: 'nhwc', channels: 'bgr' })).toEqual([
    [1, 1, 2, 3],
    [30, 20, 10, 60, 50, 40],
  ]);
  // Pillow's convert('L').
  expect(await elements({ ...raw, channels: 'grey' })).toEqual([
    [1, 1, 1, 2],
    [18, 48],
  ]);
  const bits = [10, 40].map((level) => numberToFloat16((Math.fround(level / 255) - 0.5) / 0.25));
  const [, halves] = await elements({ dtype: 'float16', mean: 0.5, std: 0.25 });
  expect(halves?.slice(0, 2)).toEqual(bits);
});

test('grey and RGBA pixels are read, also of a view', async () => {
  const bytes = Uint8Array.of(9, 1, 2, 3, 99, 4, 5, 6, 99);
  const rgba = { width: 2, height: 1, data: bytes.subarray(1) };
  expect(Array.from((await readRgb(rgba)).data)).toEqual([1, 2, 3, 4, 5, 6]);
  const grey = { width: 2, height: 1, data: Uint8Array.of(7, 8) };
  expect(Array.from((await readRgb(grey)).data)).toEqual([7, 7, 7, 8, 8, 8]);
});

describe('errors', () => {
  const refused: [string, () => Promise<unknown>, string][] = [
    [
      'a picture without pixels',
      () => preparePictures([{ width: 0, height: 3, data: new Uint8Array(0) }]),
      'picture: got 0 x 3 pixels in 0 bytes, expected one pixel or more, and 1, 3 or 4 bytes for each. Wait until the image or video has loaded.',
    ],
    [
      'bytes that are missing',
      () => preparePictures([{ width: 2, height: 2, data: new Uint8Array(11) }]),
      'picture: got 2 x 2 pixels in 11 bytes, expected one pixel or more, and 1, 3 or 4 bytes for each.',
    ],
    [
      'a file where nothing draws',
      () => preparePictures([new Blob(['x'])]),
      'picture: got Blob, expected { width, height, data: Uint8Array }, because nothing here draws pictures. Decode the picture with a library such as sharp or pngjs.',
    ],
    [
      'no picture',
      () => preparePictures([]),
      'preparePictures: got no picture, expected one or more.',
    ],
    [
      'sizes that differ',
      () => preparePictures([formulaPicture(2, 3), formulaPicture(3, 3)]),
      'preparePictures: got pictures of 2 x 3 and 3 x 3 after resizing, expected one size for all of a batch. Give size with width and height, or prepare them one by one.',
    ],
    [
      'an unknown option',
      () => preparePictures([formulaPicture(2, 3)], { sizes: 3 } as PictureOptions),
      'preparePictures: got an unknown option "sizes", expected only size, fit, position, padding, multipleOf, resampling, crop, scale, mean, std, pad, channels, layout, dtype.',
    ],
    [
      'a size that is none',
      () => preparePictures([formulaPicture(2, 3)], { size: { width: 3 } as Size }),
      'preparePictures: got size {"width":3}, expected pixels, { width, height }, { shortestEdge, longestEdge } or one of these edges.',
    ],
    [
      'means of other channels',
      () => preparePictures([formulaPicture(2, 3)], { mean: [1, 2] }),
      'mean: got 2 numbers, expected one, or 3, for each channel.',
    ],
    [
      'a deviation of zero',
      () => preparePictures([formulaPicture(2, 3)], { std: 0 }),
      'std: got 0, expected deviations that one can divide by.',
    ],
  ];
  test.each(refused)('%s', async (_, run, message) => {
    await expect(run()).rejects.toThrow(message);
  });
});

describe('preprocessor_config.json', () => {
  test('steps that are not read are named', () => {
    const config = { do_crop_margin: true, do_thumbnail: true, do_resize: false };
    expect(() => readPreprocessorConfig(config)).toThrow(
      'preprocessor_config.json: got do_crop_margin, do_thumbnail, expected only do_resize,',
    );
  });

  test.each<[object, string]>([
    [{ size: 'large' }, 'got size "large", expected pixels, { height, width } or'],
    [{ do_center_crop: true }, 'got crop_size undefined, expected pixels or { height, width }'],
    [{ resample: 9 }, 'got resample 9, expected a number from 0 to 5'],
    [{ do_normalize: true }, 'got do_normalize without image_mean and image_std, expected both'],
  ])('%o is refused', (config, message) => {
    expect(() => readPreprocessorConfig({ ...config })).toThrow(message);
  });

  test('ConvNext crops after enlarging, EfficientNet divides twice', () => {
    const convNext = {
      image_processor_type: 'ConvNextImageProcessor',
      size: { shortest_edge: 224 },
      crop_pct: 0.875,
    };
    expect(readPreprocessorConfig(convNext)).toMatchObject({
      size: { shortestEdge: 256 },
      crop: 224,
    });
    const efficientNet = {
      image_processor_type: 'EfficientNetImageProcessor',
      do_normalize: true,
      image_mean: [0, 0, 0],
      image_std: [0.5, 0.5, 2],
    };
    expect(readPreprocessorConfig(efficientNet).std).toEqual([0.25, 0.25, 4]);
  });
});
