import { describe, expect, test } from 'vitest';
import { HostTensor } from '../core/host-tensor.ts';
import { type OnnxNodeSpec, writeOnnxModel } from '../testing/onnx-writer.ts';
import { objectDetector } from './index.ts';
import { drawnPicture } from './testing/test-pictures.ts';

/** A model of 8 x 8 pixels that says the same of every picture. */
function constantModel(outputs: Readonly<Record<string, HostTensor>>): Uint8Array {
  const nodes: OnnxNodeSpec[] = [
    { op: 'ReduceMean', inputs: ['x'], outputs: ['mean'], attributes: { keepdims: 0 } },
    { op: 'Mul', inputs: ['mean', 'zero'], outputs: ['none'] },
    ...Object.keys(outputs).map((name) => ({
      op: 'Add',
      inputs: [`${name}.value`, 'none'],
      outputs: [name],
    })),
  ];
  const values = Object.entries(outputs).map(([name, value]) => [`${name}.value`, value] as const);
  return writeOnnxModel({
    nodes,
    opset: 13,
    inputs: [{ name: 'x', dtype: 'float32', shape: [1, 3, 8, 8] }],
    outputs: Object.keys(outputs),
    initializers: { zero: HostTensor.from('float32', [], [0]), ...Object.fromEntries(values) },
  });
}

const floats = (shape: number[], values: number[]) => HostTensor.from('float32', shape, values);
/** Twice as wide as high, so that places of the model's picture are stretched back. */
const PICTURE = drawnPicture(32, 16, []);
const BOX = { left: 8, top: 4, width: 16, height: 8 };

describe('what outputs mean', () => {
  test('detr: softmax over classes and nothing, boxes by their middle', async () => {
    const model = constantModel({
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
      constantModel({ output0: floats([1, 6, 4], rows) }),
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
    const model = constantModel({
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

test('names of other classes and outputs of another kind are refused', async () => {
  const model = constantModel({ output0: floats([1, 6, 1], [4, 4, 4, 4, 0.8, 0.1]) });
  await using detector = await objectDetector(model, { device: 'host', labels: ['a'] });
  await expect(detector.detect(PICTURE)).rejects.toThrow('labels: got 1 names, expected 2');
  await expect(detector.detect(PICTURE, { threshold: 2 })).rejects.toThrow(
    'detect: got threshold 2, expected a number from 0 to 1.',
  );
  const other = constantModel({ y: floats([2], [1, 2]) });
  await expect(objectDetector(other, { device: 'host' })).rejects.toThrow(
    'the model: got outputs y [2], expected logits and pred_boxes, scores and boxes, or one of 3 dimensions.',
  );
});
