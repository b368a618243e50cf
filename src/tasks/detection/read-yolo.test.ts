import { describe, expect, test } from 'vitest';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { writeOnnxModel } from '../../testing/onnx-writer.ts';
import { objectDetector, type ObjectDetectorOptions } from '../index.ts';
import { constantDetector } from '../testing/constant-detector.ts';
import { drawnPicture } from '../testing/test-pictures.ts';
import { polygonOverlap } from './read-candidates.ts';

/** Twice as wide as high, so that places of the model's picture are stretched back. */
const PICTURE = drawnPicture(128, 64, []);
/** The model's picture: 64 + 16 + 4 cells. */
const SIDE = 64;
const CELLS = 84;

/** Places first, of which the rest are 0 but for what fills them up. */
function placesFirst(
  places: Readonly<Record<number, readonly number[]>>,
  filled: readonly number[],
) {
  const rows = Array.from({ length: CELLS }, (_, row) => places[row] ?? filled);
  return HostTensor.from('float32', [1, CELLS, filled.length], rows.flat());
}

/** Places last, as YOLO v8 has them. */
function placesLast(places: readonly (readonly number[])[]) {
  const width = places[0]?.length ?? 0;
  const numbers = Array.from({ length: width }, (_, k) => places.map((place) => place[k] ?? 0));
  return HostTensor.from('float32', [1, width, places.length], numbers.flat());
}

const load = (output0: HostTensor, options: ObjectDetectorOptions = {}) =>
  objectDetector(constantDetector({ output0 }, SIDE), { device: 'host', ...options });

describe('poses', () => {
  const key = [20, 10, 0.9, 44, 60, 0.2];
  const person = [32, 32, 16, 32, 0.8, ...key];
  const other = [33, 32, 16, 32, 0.7, ...key];

  test('key points of the surest, in pixels of the picture', async () => {
    await using detector = await load(placesLast([other, person]), { shape: 'yolo-pose' });
    const [found, ...more] = await detector.detect(PICTURE);
    expect(more).toEqual([]);
    expect(found).toMatchObject({ index: 0, box: { left: 48, top: 16, width: 32, height: 32 } });
    expect(found?.points?.map(({ x, y }) => [x, y])).toEqual([
      [40, 10],
      [88, 60],
    ]);
    expect(found?.points?.[1]?.score).toBeCloseTo(0.2, 6);
  });

  test('are not taken for likelihoods of classes', async () => {
    await using detector = await load(placesLast([person]));
    await expect(detector.detect(PICTURE)).rejects.toThrow(
      'the result of the model: got 60.0 where a place has the likelihoods of its classes, expected numbers from 0 to 1. Say what the outputs mean with the option shape, such as yolo-pose for key points and yolo-obb for turned boxes; labels tell how many classes there are.',
    );
  });

  test('of three numbers each', async () => {
    const options = { shape: 'yolo-pose', labels: ['a', 'b'] } as const;
    await using detector = await load(placesLast([person]), options);
    await expect(detector.detect(PICTURE)).rejects.toThrow(
      'got [1, 11, 1], expected 4 numbers of a box, 2 of classes and 3 of each key point.',
    );
  });
});

describe('turned boxes', () => {
  /** Middle, width, height, two classes, angle. */
  const box = (x: number, score: number) => [x, 32, 40, 8, 0, score, Math.PI / 4];

  test('corners of their own; beside each other both stay', async () => {
    // Upright boxes around these overlap by a half, the turned ones not at all.
    const places = placesLast([box(20, 0.9), box(32, 0.8), box(32.5, 0.7)]);
    await using detector = await load(places, { shape: 'yolo-obb' });
    const found = await detector.detect(drawnPicture(SIDE, SIDE, []));
    expect(found.map(({ index, score }) => [index, score.toFixed(1)])).toEqual([
      [1, '0.9'],
      [1, '0.8'],
    ]);
    const [half, thin] = [20 * Math.SQRT1_2, 4 * Math.SQRT1_2];
    const corners = found[1]?.corners?.flat() ?? [];
    const expected = [
      [32 - half + thin, 32 - half - thin],
      [32 + half + thin, 32 + half - thin],
      [32 + half - thin, 32 + half + thin],
      [32 - half - thin, 32 - half + thin],
    ].flat();
    for (const [i, value] of expected.entries()) expect(corners[i]).toBeCloseTo(value, 5);
    expect(found[1]?.box.left).toBeCloseTo(32 - half - thin, 5);
  });

  test('the share that two polygons cover together', () => {
    const square = (x: number, y: number, side: number) =>
      [
        [x, y],
        [x + side, y],
        [x + side, y + side],
        [x, y + side],
      ] as const;
    expect(polygonOverlap(square(0, 0, 2), square(1, 1, 2))).toBeCloseTo(1 / 7, 12);
    expect(polygonOverlap(square(0, 0, 2), square(0, 0, 2).toReversed())).toBeCloseTo(1, 12);
    expect(polygonOverlap(square(0, 0, 1), square(2, 2, 1))).toBe(0);
    const diamond = [
      [1, -1],
      [3, 1],
      [1, 3],
      [-1, 1],
    ] as const;
    expect(polygonOverlap(square(0, 0, 2), diamond)).toBeCloseTo(0.5, 12);
  });
});

describe('one place in each cell', () => {
  /** The cell in column 1 and row 2 of those of 16 pixels, 4 in a row. */
  const CELL = 64 + 2 * 4 + 1;
  /** From its corner half a cell across and down: 24, 40; sides of 32 and 16. */
  const coded = [0.5, 0.5, Math.log(2), Math.log(1), 0.9, 0.1, 0.8];
  const BOX = { left: 16, top: 32, width: 64, height: 16 };

  test('YOLOX: cells and logarithms', async () => {
    const output = placesFirst({ [CELL]: coded }, [0.5, 0.5, -1, -1, 0, 0, 0]);
    await using detector = await load(output, { labels: ['a', 'b'] });
    const [found] = await detector.detect(PICTURE);
    expect(found?.label).toBe('b');
    expect(found?.score).toBeCloseTo(0.72, 6);
    for (const side of ['left', 'top', 'width', 'height'] as const) {
      expect(found?.box[side]).toBeCloseTo(BOX[side], 4);
    }
  });

  test('YOLOX, decoded: pixels', async () => {
    const output = placesFirst({ 3: [24, 40, 32, 16, 0.9, 0.1, 0.8] }, [1, 1, 2, 2, 0, 0, 0]);
    await using detector = await load(output, { shape: 'yolox' });
    expect(await detector.detect(PICTURE)).toMatchObject([{ index: 1, box: BOX }]);
  });

  test('YOLO v8 with places first', async () => {
    const output = placesFirst({ 3: [24, 40, 32, 16, 0.1, 0.2, 0.8] }, [1, 1, 2, 2, 0, 0, 0]);
    await using detector = await load(output, { labels: ['a', 'b', 'c'] });
    expect(await detector.detect(PICTURE)).toMatchObject([{ label: 'c', box: BOX }]);
  });

  test('without names it is not certain which', async () => {
    await using detector = await load(placesFirst({}, [1, 1, 2, 2, 0, 0, 0]));
    await expect(detector.detect(PICTURE)).rejects.toThrow(
      'the result of the model: got [1, 84, 7], which is YOLOX with 2 classes or YOLO v8 with 3, expected as many labels as classes, or the option shape. Give shape: yolox or shape: yolo.',
    );
  });

  test('YOLO v5 of one class has three anchors in each', async () => {
    const rows = Array.from({ length: 3 * CELLS }, () => [1, 1, 2, 2, 0, 1]);
    rows[5] = [24, 40, 32, 16, 0.9, 1];
    const output = HostTensor.from('float32', [1, 3 * CELLS, 6], rows.flat());
    await using detector = await load(output);
    expect(await detector.detect(PICTURE)).toMatchObject([{ index: 0, box: BOX }]);
  });
});

test('middles and sides may be shares of the picture', async () => {
  await using detector = await load(placesLast([[0.375, 0.625, 0.5, 0.25, 0.1, 0.8]]));
  expect(await detector.detect(PICTURE)).toMatchObject([
    { index: 1, box: { left: 16, top: 32, width: 64, height: 16 } },
  ]);
});

describe('other outputs that leave open what they mean', () => {
  test('DETR without names', async () => {
    const outputs = {
      logits: HostTensor.from('float32', [1, 1, 3], [0, 9, 0]),
      pred_boxes: HostTensor.from('float32', [1, 1, 4], [0.5, 0.5, 0.5, 0.5]),
    };
    await using detector = await objectDetector(constantDetector(outputs), { device: 'host' });
    await expect(detector.detect(PICTURE)).rejects.toThrow(
      'got logits [1, 1, 3], which is DETR with 2 classes and nothing or RT-DETR with 3 classes, expected labels, id2label in config.json or the option shape. Give shape: detr or shape: rt-detr.',
    );
  });

  test.each([
    ['one class', [0.9], undefined, 0],
    ['as many names as numbers', [0.9, 0.1], ['a', 'b'], 0],
    ['a number for nothing', [0.1, 0.9], ['a'], 0],
  ] as const)('scores and boxes in pixels: %s', async (_, numbers, labels, index) => {
    const outputs = {
      scores: HostTensor.from('float32', [1, 1, numbers.length], [...numbers]),
      boxes: HostTensor.from('float32', [1, 1, 4], [16, 0, 48, 32]),
    };
    const options = { device: 'host', labels } as const;
    await using detector = await objectDetector(constantDetector(outputs, SIDE), options);
    expect(await detector.detect(PICTURE)).toMatchObject([
      { index, box: { left: 32, top: 0, width: 64, height: 32 } },
    ]);
  });

  test('any size', async () => {
    const model = writeOnnxModel({
      nodes: [
        { op: 'ReduceMean', inputs: ['x'], outputs: ['y'], attributes: { axes: [3], keepdims: 0 } },
      ],
      inputs: [{ name: 'x', dtype: 'float32', shape: [1, 3, 'h', 'w'] }],
      outputs: ['y'],
    });
    await expect(objectDetector(model, { device: 'host' })).rejects.toThrow(
      'got x [1, 3, h, w], pictures of any size, expected a size',
    );
  });
});
