import { describe, expect, test } from 'vitest';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { seededRandom } from '../../core/random.ts';
import { writeOnnxModel } from '../../testing/onnx-writer.ts';
import { imageSegmenter, type ImageSegmenterOptions } from '../index.ts';
import type { Segmentation } from './segmentation.ts';
import {
  COLOUR_CLASSES,
  lightnessModel,
  seededQueries,
  seededSegmenter,
} from '../testing/segmentation-models.ts';
import { drawnPicture, formulaPicture } from '../testing/test-pictures.ts';
import { type AxisSamples, axisSamples } from './axis-samples.ts';
import { type ClassScores, classifyPixels } from './image-segmenter.ts';

const LABELS = ['red', 'green', 'blue'];
const open = (options: ImageSegmenterOptions = {}, model = COLOUR_CLASSES) =>
  imageSegmenter(model, { device: 'host', ...options });

/** A row of digits for each row of pixels. */
function rowsOf({ classes, width }: Segmentation): string[] {
  const digits = [...classes].join('');
  return Array.from({ length: classes.length / width }, (_, y) =>
    digits.slice(y * width, (y + 1) * width),
  );
}

/** Classes by the pipeline `image-segmentation` of @huggingface/transformers 4.3.1, row by row. */
const TRANSFORMERS = [
  '4444000000000022220000',
  '4444000000000022220000',
  '4444000000000022200000',
  '3334000000000022200000',
  '3330444000000003300000',
  '2222344400000033330000',
  '2222334400000033333000',
  '2222334400000033330000',
  '2222333300000000000000',
  '1133222230000000000000',
  '1113222233330000000444',
  '1113222233330000000444',
  '1113222203330000000044',
  '1113222203333000000000',
  '3333222003334444000000',
  '3331120000344444440000',
  '3331120000344444440000',
  '3331120000344444440000',
];

test('classes of pixels are those of transformers.js', async () => {
  const preprocessor = {
    do_resize: false,
    do_normalize: true,
    image_mean: [0.485, 0.456, 0.406],
    image_std: [0.229, 0.224, 0.225],
  };
  await using segmenter = await open({ preprocessor }, seededSegmenter());
  const found = await segmenter.segment(formulaPicture(22, 18));
  expect(rowsOf(found)).toEqual(TRANSFORMERS);
});

describe('classes before or behind rows and columns, whatever pictures have', () => {
  /** A picture in, and its first two channels out, as classes, in some order of dimensions. */
  const model = (shape: readonly (number | string)[], perm: readonly number[]): Uint8Array =>
    writeOnnxModel({
      nodes: [
        { op: 'Transpose', inputs: ['x'], outputs: ['own'], attributes: { perm } },
        { op: 'Slice', inputs: ['own', 'from', 'to', 'axis'], outputs: ['logits'] },
      ],
      opset: 13,
      inputs: [{ name: 'x', dtype: 'float32', shape }],
      outputs: ['logits'],
      initializers: {
        from: HostTensor.from('int64', [1], [0n]),
        to: HostTensor.from('int64', [1], [2n]),
        axis: HostTensor.from(
          'int64',
          [1],
          [BigInt(shape[3] === 3 ? perm.indexOf(3) : perm.indexOf(1))],
        ),
      },
    });
  /** Red, the first class, at the left, and green at the right. */
  const halves = drawnPicture(8, 6, [
    { left: 0, top: 0, width: 4, height: 6, colour: [255, 0, 0] },
    { left: 4, top: 0, width: 4, height: 6, colour: [0, 255, 0] },
  ]);

  test.each([
    ['both before', [1, 3, 6, 8], [0, 1, 2, 3]],
    ['pictures before, classes behind', [1, 3, 6, 8], [0, 2, 3, 1]],
    ['pictures behind, classes before', [1, 6, 8, 3], [0, 3, 1, 2]],
    ['both behind', [1, 6, 8, 3], [0, 1, 2, 3]],
  ])('%s', async (_, shape, perm) => {
    for (const labels of [undefined, ['red', 'green']]) {
      await using segmenter = await open({ labels }, model(shape, perm));
      expect(rowsOf(await segmenter.segment(halves))).toEqual(
        Array.from({ length: 6 }, () => '00001111'),
      );
    }
  });
});

/** The classes of pixels as `interpolate_data` and the arg max of transformers.js give them. */
function plainClasses(scores: ClassScores, columns: AxisSamples, rows: AxisSamples): number[] {
  const { numbers, classes, width, classStep, placeStep } = scores;
  const at = (c: number, row = 0, column = 0) =>
    numbers[c * classStep + (row * width + column) * placeStep] ?? 0;
  return [...rows.shares].flatMap((t, y) =>
    [...columns.shares].map((s, x) => {
      const [top, bottom] = [rows.before[y], rows.after[y]];
      const [left, right] = [columns.before[x], columns.after[x]];
      const values = Array.from({ length: classes }, (_, c) =>
        Math.fround(
          (1 - s) * (1 - t) * at(c, top, left) +
            s * (1 - t) * at(c, top, right) +
            (1 - s) * t * at(c, bottom, left) +
            s * t * at(c, bottom, right),
        ),
      );
      return values.indexOf(Math.max(...values));
    }),
  );
}

describe.each([false, true])('scores with classes last: %s', (isLast) => {
  test.each([
    [3, 4, 17, 9],
    [8, 5, 8, 5],
    [9, 7, 4, 3],
    [1, 1, 5, 2],
  ])('%d x %d places at %d x %d pixels', (width, height, wide, high) => {
    const random = seededRandom(width * height + wide);
    const classes = 4;
    // Coarse, so that there are equal scores.
    const numbers = Float32Array.from({ length: classes * width * height }, () =>
      Math.floor(random() * 4),
    );
    const steps = isLast
      ? { classStep: 1, placeStep: classes }
      : { classStep: width * height, placeStep: 1 };
    const scores = { numbers, classes, width, height, ...steps };
    const columns = axisSamples(wide, width, (x) => (x / wide) * width);
    const rows = axisSamples(high, height, (y) => (y / high) * height);
    const found = classifyPixels(scores, columns, rows);
    expect([...found]).toEqual(plainClasses(scores, columns, rows));
  });
});

const FLAG = drawnPicture(12, 6, [
  { left: 0, top: 0, width: 12, height: 6, colour: [255, 0, 0] },
  { left: 6, top: 0, width: 6, height: 3, colour: [0, 0, 255] },
]);

test('segments come with names, shares and masks, the largest first', async () => {
  await using segmenter = await open({
    config: { id2label: Object.fromEntries(LABELS.entries()) },
  });
  const found = await segmenter.segment(FLAG);
  expect(found.segments.map(({ label, index, share }) => [label, index, share])).toEqual([
    ['red', 0, 0.75],
    ['blue', 2, 0.25],
  ]);
  const { width, height, data } = found.segments[1]?.mask() ?? {};
  expect([width, height]).toEqual([12, 6]);
  const rows = [
    ...Array<string>(3).fill('0'.repeat(6) + '1'.repeat(6)),
    ...Array(3).fill('0'.repeat(12)),
  ];
  expect([...(data ?? [])].map((level) => level / 255).join('')).toBe(rows.join(''));
});

test.each([
  ['contained', { size: 24, fit: 'contain', padding: 255 }],
  ['with zeros beside it', { pad: { width: 20, height: 9 } }],
  ['cropped, which is stretched', { crop: { width: 24, height: 12 } }],
  ['covering, which is stretched', { size: 12, fit: 'cover' }],
] as const)('a picture that is %s keeps its places', async (_, pictures) => {
  await using segmenter = await open({ labels: LABELS, pictures });
  const { segments, classes } = await segmenter.segment(FLAG);
  expect(segments.map(({ label, share }) => [label, share])).toEqual([
    ['red', 0.75],
    ['blue', 0.25],
  ]);
  expect(classes.indexOf(2)).toBe(6);
});

test('what is wrong is said', async () => {
  await using wrong = await open({ labels: ['red'] });
  await expect(wrong.segment(FLAG)).rejects.toThrow('labels: got 1 names, expected 3');
  await using single = await open({}, lightnessModel());
  await expect(single.segment(FLAG)).rejects.toThrow(
    'the result of the model: got float32 [1, 1, 3, 6], expected [1, classes, rows, columns]. backgroundRemoval takes models of one mask.',
  );
  await expect(open({ label: [] } as ImageSegmenterOptions)).rejects.toThrow(
    'got an unknown option "label"',
  );
  const signal = AbortSignal.abort(new Error('enough'));
  await expect(wrong.segment(FLAG, { signal })).rejects.toThrow('enough');
});

/**
 * Numbers of segments by `post_process_panoptic_segmentation` of @huggingface/transformers 4.3.1,
 * row by row.
 */
const THINGS = [
  '2223333331111111111222',
  '2223333331111111111222',
  '2223333331111111111222',
  '2223333331111111111111',
  '2233333331111111111111',
  '1133333331111111111111',
  '1113333331111111111111',
  '1111133331111111111111',
  '1111113311111111111111',
  '1111113311111111111111',
  '1111113111111111111111',
  '1111111111111111111111',
  '1111111111111111111333',
  '1111111111222111113333',
  '1111111112222211133333',
  '1111111112222221333333',
  '1111111112222222333333',
  '1111111112222222333333',
];

describe('models by queries', () => {
  const pictures = { mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] };

  /** The numbers of segments for each pixel, the surest segment first. */
  function thingsOf({ segments, width, height }: Segmentation): string[] {
    const masks = segments
      .toSorted((a, b) => (b.score ?? 0) - (a.score ?? 0))
      .map((segment) => segment.mask().data);
    const digits = Array.from({ length: width * height }, (_, i) =>
      masks.findIndex((mask) => mask[i] === 255),
    ).map((index) => (index < 0 ? '.' : String(index + 1)));
    return Array.from({ length: height }, (_, y) =>
      digits.slice(y * width, (y + 1) * width).join(''),
    );
  }

  test.each(['host', 'wasm'] as const)(
    'things are those of transformers.js, on %s',
    async (device) => {
      await using segmenter = await open({ device, pictures }, seededQueries());
      const found = await segmenter.segment(formulaPicture(22, 18), { leastShare: 0.3 });
      expect(thingsOf(found)).toEqual(THINGS);
      const told = found.segments.map(({ label, score, share }) => [
        label,
        score,
        Math.round(share * 22 * 18),
      ]);
      expect(told).toEqual([
        ['0', expect.closeTo(0.94791502, 6), 262],
        ['0', expect.closeTo(0.80240399, 6), 83],
        ['1', expect.closeTo(0.80977601, 6), 51],
      ]);
    },
  );

  test('what others leave too little of is no thing, and its pixels are of no class', async () => {
    await using segmenter = await open({ pictures }, seededQueries());
    const found = await segmenter.segment(formulaPicture(22, 18));
    expect(thingsOf(found)).toEqual(THINGS.map((row) => row.replaceAll(/[23]/g, '.')));
    expect(new Set(found.classes)).toEqual(new Set([0, 0xffff]));
    const none = await segmenter.segment(formulaPicture(22, 18), { threshold: 0.99 });
    expect(none.segments).toEqual([]);
    expect(new Set(none.classes)).toEqual(new Set([0xffff]));
  });

  test('names for other classes are refused', async () => {
    await using segmenter = await open({ labels: ['a', 'b'] }, seededQueries());
    await expect(segmenter.segment(formulaPicture(22, 18))).rejects.toThrow(
      'labels: got 2 names, expected 3',
    );
  });
});
