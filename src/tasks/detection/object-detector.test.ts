import { describe, expect, test } from 'vitest';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { type Mask, objectDetector, type ObjectDetectorOptions } from '../index.ts';
import { constantDetector } from '../testing/constant-detector.ts';
import { drawnPicture } from '../testing/test-pictures.ts';

const floats = (shape: number[], values: number[]) => HostTensor.from('float32', shape, values);
/** Twice as wide as high, so that places of the model's picture are stretched back. */
const PICTURE = drawnPicture(32, 16, []);
const BOX = { left: 8, top: 4, width: 16, height: 8 };

describe('what outputs mean', () => {
  test('detr: softmax over classes and nothing, boxes by their middle', async () => {
    const model = constantDetector({
      logits: floats([1, 3, 3], [0, 9, 0, 0, 0, 9, 0.5, 0, 0]),
      pred_boxes: floats([1, 3, 4], [0.5, 0.5, 0.5, 0.5, 0.1, 0.1, 0.1, 0.1, 0.5, 0.5, 1, 1]),
    });
    await using detector = await objectDetector(model, { device: 'host', labels: ['cat', 'dog'] });
    const found = await detector.detect(PICTURE);
    // The second one is nothing, the third one too unsure of three classes.
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({ label: 'dog', index: 1, box: BOX });
    expect(found[0]?.score).toBeCloseTo(Math.exp(9) / (Math.exp(9) + 2), 9);
    expect(await detector.detect(PICTURE, { threshold: 0.5, topK: 1 })).toHaveLength(1);
  });

  test('yolo: pixels of the model’s picture, the surest of those that overlap', async () => {
    const columns = [
      [4, 4, 4, 4, 0.8, 0.1],
      [4, 4, 4, 4.4, 0.9, 0.1],
      [4, 4, 4, 4, 0.1, 0.7],
      [1, 1, 2, 2, 0.3, 0.2],
    ];
    const rows = [0, 1, 2, 3, 4, 5].flatMap((row) => columns.map((column) => column[row] ?? 0));
    await using detector = await objectDetector(
      constantDetector({ output0: floats([1, 6, 4], rows) }),
      {
        device: 'wasm',
      },
    );
    const found = await detector.detect(PICTURE);
    expect(found.map(({ label }) => label)).toEqual(['0', '1']);
    expect(found[0]?.score).toBeCloseTo(0.9, 6);
    expect(found[1]?.box).toEqual(BOX);
    expect(await detector.detect(PICTURE, { overlap: 1 })).toHaveLength(3);
    expect(await detector.detect(PICTURE, { threshold: 0.2 })).toHaveLength(3);
  });

  test('corners: shares, nothing first; boxes end with the picture', async () => {
    const model = constantDetector({
      scores: floats([1, 2, 2], [0.2, 0.8, 0.9, 0.1]),
      boxes: floats([1, 2, 4], [-0.5, 0.25, 0.75, 0.75, 0, 0, 1, 1]),
    });
    await using detector = await objectDetector(model, { device: 'host', labels: ['face'] });
    const found = await detector.detect(PICTURE);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({
      label: 'face',
      box: { left: 0, top: 4, width: 24, height: 8 },
    });
  });
});

describe('detectors of other exporters', () => {
  const load = (
    outputs: Readonly<Record<string, HostTensor>>,
    options: Partial<ObjectDetectorOptions> = {},
  ) => objectDetector(constantDetector(outputs), { device: 'host', ...options });

  test('rt-detr: as many numbers as names, each class for itself', async () => {
    const outputs = {
      logits: floats([1, 2, 2], [2, 1, -9, -9]),
      pred_boxes: floats([1, 2, 4], [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 1, 1]),
    };
    await using detector = await load(outputs, { labels: ['cat', 'dog'] });
    const found = await detector.detect(PICTURE);
    expect(found.map(({ label, box }) => [label, box])).toEqual([
      ['cat', BOX],
      ['dog', BOX],
    ]);
    expect(found[0]?.score).toBeCloseTo(1 / (1 + Math.exp(-2)), 9);
    await using other = await load(outputs, { shape: 'rt-detr' });
    expect(await other.detect(PICTURE, { threshold: 0.8 })).toMatchObject([{ label: '0' }]);
  });

  test('yolo-v5: classes times how sure it is of anything', async () => {
    const rows = Array.from({ length: 9 }, () => [1, 1, 2, 2, 0.9, 0.4, 0.1]);
    rows[3] = [4, 4, 4, 4, 0.8, 0.1, 0.9];
    rows[4] = [4, 4, 4, 4, 0.1, 0.1, 1];
    await using detector = await load({ output: floats([1, 9, 7], rows.flat()) });
    const found = await detector.detect(PICTURE);
    expect(found).toMatchObject([{ label: '1', box: BOX }]);
    expect(found[0]?.score).toBeCloseTo(0.72, 6);
  });

  test('yolo-v10: corners, how sure, the class', async () => {
    const rows = Array.from({ length: 7 }, () => [0, 0, 1, 1, 0.1, 3]);
    rows[0] = [2, 2, 6, 6, 0.75, 2];
    await using detector = await load({ output0: floats([1, 7, 6], rows.flat()) });
    expect(await detector.detect(PICTURE)).toEqual([
      { index: 2, label: '2', score: 0.75, box: BOX, mask: undefined },
    ]);
  });

  test.each([
    ['pixels', [2, 2, 6, 6], 'boxes'],
    ['shares', [0.25, 0.25, 0.75, 0.75], 'bboxes'],
  ])('torchvision: labels of boxes in %s', async (_, corners, name) => {
    await using detector = await load({
      [name]: floats([2, 4], [...corners, 0, 0, 1, 1]),
      labels: HostTensor.from('int64', [2], [7n, 1n]),
      scores: floats([2], [0.9, 0.2]),
    });
    expect(await detector.detect(PICTURE)).toMatchObject([{ index: 7, label: '7', box: BOX }]);
  });

  test('TensorFlow: top and left, bottom and right', async () => {
    await using detector = await load({
      detection_boxes: floats([1, 1, 4], [0, 0.25, 0.5, 0.75]),
      detection_classes: floats([1, 1], [3]),
      detection_scores: floats([1, 1], [0.9]),
      num_detections: floats([1], [1]),
    });
    expect(await detector.detect(PICTURE)).toMatchObject([
      { index: 3, box: { left: 8, top: 0, width: 16, height: 8 } },
    ]);
  });

  test('outputs that tell of different numbers of things are refused', async () => {
    await using detector = await load({
      boxes: floats([1, 4], [0, 0, 1, 1]),
      labels: HostTensor.from('int64', [2], [7n, 1n]),
      scores: floats([2], [0.9, 0.2]),
    });
    await expect(detector.detect(PICTURE)).rejects.toThrow(
      'outputs boxes, scores, labels: got 1, 2, 2 things, expected as many in each, for one picture.',
    );
  });
});

describe('masks', () => {
  /** The bounds of what is 255 in a mask, and how many pixels that is. */
  function extentOf({ width, data }: Mask): readonly number[] {
    const at = Array.from(data.keys()).filter((i) => data[i] === 255);
    const [xs, ys] = [at.map((i) => i % width), at.map((i) => Math.floor(i / width))];
    return [Math.min(...xs), Math.min(...ys), Math.max(...xs) + 1, Math.max(...ys) + 1, at.length];
  }

  /** Two prototypes of 4 x 4: 1 in the left half and -1 in the right one, and the same from top to bottom. */
  const prototypes = floats(
    [1, 2, 4, 4],
    [
      ...Array.from({ length: 16 }, (_, i) => (i % 4 < 2 ? 1 : -1)),
      ...Array.from({ length: 16 }, (_, i) => (i < 8 ? 1 : -1)),
    ],
  );
  /** The whole picture, and coefficients behind its one class. */
  const whole = (...coefficients: number[]) => [4, 4, 8, 8, 0.9, ...coefficients];

  test.each([
    ['the left half', [1, 0], [0, 0, 16, 16, 256]],
    ['the lower half', [0, -1], [0, 8, 32, 16, 256]],
  ])('yolo: a sum of prototypes, %s', async (_, coefficients, extent) => {
    const model = constantDetector({
      output0: floats([1, 7, 1], whole(...coefficients)),
      prototypes,
    });
    await using detector = await objectDetector(model, { device: 'host' });
    const [thing] = await detector.detect(PICTURE);
    const mask = thing?.mask?.();
    expect(mask && { width: mask.width, height: mask.height }).toEqual({ width: 32, height: 16 });
    expect(mask && extentOf(mask)).toEqual(extent);
  });

  test('yolo: interpolated, then compared, and cut off by the box', async () => {
    // 1 in the left column and -0.5 in the next: zero lies two thirds of the way between their middles, 4 and 12 of the picture.
    const [output0, ramp] = [
      floats([1, 6, 1], [4, 5, 8, 6, 0.9, 1]),
      floats(
        [1, 1, 4, 4],
        Array.from({ length: 16 }, (_, i) => [1, -0.5, -1, -1][i % 4] ?? 0),
      ),
    ];
    const model = constantDetector({ output0, ramp });
    await using detector = await objectDetector(model, { device: 'wasm', labels: ['cat'] });
    const [thing] = await detector.detect(PICTURE);
    const mask = thing?.mask?.();
    // Middles of pixels up to 4 + 8 * 2 / 3 = 9.33: those from 0 to 8. The box begins at row 2 of 8, which is 4 of 16.
    expect(mask && extentOf(mask)).toEqual([0, 4, 9, 16, 9 * 12]);
  });

  test('yolo: pads of the model’s picture are no part of it', async () => {
    const model = constantDetector({ output0: floats([1, 7, 1], whole(0, 1)), prototypes });
    const pictures = { size: { width: 8, height: 8 }, fit: 'contain' } as const;
    await using detector = await objectDetector(model, { device: 'host', pictures });
    const [thing] = await detector.detect(PICTURE);
    const mask = thing?.mask?.();
    expect(thing?.box).toEqual({ left: 0, top: 0, width: 32, height: 16 });
    expect(mask && extentOf(mask)).toEqual([0, 0, 32, 8, 256]);
  });

  test('Mask R-CNN: above a half in the model’s picture', async () => {
    const ones = Array.from({ length: 64 }, (_, i) => (i % 8 >= 2 && i % 8 < 6 ? 1 : 0));
    await using detector = await objectDetector(
      constantDetector({
        boxes: floats([2, 4], [0, 0, 1, 1, 2, 2, 6, 6]),
        labels: HostTensor.from('int64', [2], [1n, 1n]),
        scores: floats([2], [0.1, 0.9]),
        masks: floats([2, 1, 8, 8], [...Array.from({ length: 64 }, () => 0), ...ones]),
      }),
      { device: 'host' },
    );
    const [thing] = await detector.detect(PICTURE);
    const mask = thing?.mask?.();
    expect(mask && extentOf(mask)).toEqual([8, 4, 24, 12, 16 * 8]);
  });
});

test('names of other classes and outputs of another kind are refused', async () => {
  const model = constantDetector({ output0: floats([1, 6, 1], [4, 4, 4, 4, 0.8, 0.1]) });
  await using detector = await objectDetector(model, { device: 'host', labels: ['a'] });
  await expect(detector.detect(PICTURE)).rejects.toThrow('labels: got 1 names, expected 2');
  await expect(detector.detect(PICTURE, { threshold: 2 })).rejects.toThrow(
    'detect: got threshold 2, expected a number from 0 to 1.',
  );
  const other = constantDetector({ y: floats([2], [1, 2]) });
  await expect(objectDetector(other, { device: 'host' })).rejects.toThrow(
    'the model: got outputs y [2], expected logits and pred_boxes, scores and boxes, perhaps labels, or one of 3 dimensions, perhaps with prototypes of 4.',
  );
});
