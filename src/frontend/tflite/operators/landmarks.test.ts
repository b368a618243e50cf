import { encode } from 'flatbuffers/js/flexbuffers.js';
import { expect, test } from 'vitest';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { readFlexMap } from '../reader/flex-map.ts';
import { importTflite } from '../compile-tflite.ts';
import { describeLite, type LiteInput, modelOf } from '../testing/describe-lite.ts';
import { writeTflite } from '../testing/tflite-writer.ts';

const given = (shape: readonly number[], values: readonly number[]): LiteInput => ({
  dtype: 'float32',
  shape,
  given: HostTensor.from('float32', shape, values),
});

const floats = (shape: readonly number[]) => ({ dtype: 'float32', shape }) as const;

const IDENTITY = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];

test('options in FlexBuffers', () => {
  const bytes = encode({ few: [1, -2], half: 0.5, name: 'text', size: 300 });
  expect([...readFlexMap(bytes, 'x')]).toEqual([
    ['few', [1, -2]],
    ['half', 0.5],
    ['size', 300],
  ]);
  for (let i = 0; i < bytes.byteLength; i++) {
    const damaged = bytes.with(i, 255);
    try {
      readFlexMap(damaged, 'x');
    } catch (error) {
      expect(String(error)).toMatch(/^FormatError: x: got /);
    }
  }
  expect(() => readFlexMap(new Uint8Array(2), 'x')).toThrow(
    'x: got options that are no map, expected a map in FlexBuffers of 2 bytes.',
  );
});

describeLite("MediaPipe's operators of landmarks", (run) => {
  test('TransformLandmarks', async () => {
    const [moved] = await run({
      op: 'TransformLandmarks',
      version: 2,
      inputs: [
        given([1, 2, 3], [1, 2, 3, 0, 0, 7]),
        given([1, 4, 4], [0, -1, 0, 10, 1, 0, 0, 20, ...IDENTITY.slice(8)]),
      ],
      outputs: [floats([1, 2, 3])],
    });
    expect([...(moved?.elements ?? [])]).toEqual([8, 21, 3, 10, 20, 7]);
  });

  test('Landmarks2TransformMatrix, turned by a right angle', async () => {
    const [matrix] = await run({
      op: 'Landmarks2TransformMatrix',
      version: 2,
      customOptions: encode({
        left_rotation_idx: 0,
        right_rotation_idx: 1,
        output_width: 2,
        output_height: 4,
        scale_x: 2,
        scale_y: 1,
        subset_idxs: [0, 1, 2, 2],
      }),
      inputs: [given([1, 3, 3], [0, 0, 9, 0, 2, 9, -4, 2, 9])],
      outputs: [floats([1, 4, 4])],
    });
    // The sides of the box are 2 and 4 around (-2, 1); the first is taken twice.
    const wanted = [0, -1, 0, 0, 2, 0, 0, -1, ...IDENTITY.slice(8)];
    const actual = Array.from(matrix?.elements ?? [], Number);
    for (const [i, value] of wanted.entries()) expect(actual[i]).toBeCloseTo(value, 5);
  });

  test('TransformTensorBilinear', async () => {
    const crop = async (matrix: readonly number[]) => {
      const [result] = await run({
        op: 'TransformTensorBilinear',
        version: 2,
        customOptions: encode({ output_width: 2, output_height: 2 }),
        inputs: [given([1, 2, 2, 1], [1, 2, 3, 4]), given([1, 4, 4], matrix)],
        outputs: [floats([1, 2, 2, 1])],
      });
      return Array.from(result?.elements ?? [], Number);
    };
    expect(await crop(IDENTITY)).toEqual([1, 2, 3, 4]);
    expect(await crop(IDENTITY.with(3, 0.5))).toEqual([1.5, 0, 3.5, 0]);
  });
});

test('a version that MediaPipe has no more is refused', () => {
  const model = modelOf({
    op: 'TransformLandmarks',
    inputs: [given([1, 1, 2], [0, 0]), given([1, 4, 4], IDENTITY)],
    outputs: [floats([1, 1, 2])],
  });
  expect(() => importTflite(writeTflite(model))).toThrow(
    'node "y0" (TransformLandmarks): got version 1, expected 2.',
  );
});
