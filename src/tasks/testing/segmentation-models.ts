import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { seededRandom } from '../../core/random.ts';
import { writeOnnxModel } from '../../testing/onnx-writer.ts';

/** A model of five classes whose scores are those of squares of 4 x 4 pixels, with seeded weights. */
export function seededSegmenter(): Uint8Array {
  const random = seededRandom(11);
  const weights = Float32Array.from({ length: 5 * 3 * 16 }, () => random() - 0.5);
  return writeOnnxModel({
    nodes: [
      {
        op: 'Conv',
        inputs: ['pixel_values', 'weights'],
        outputs: ['logits'],
        attributes: { kernel_shape: [4, 4], strides: [4, 4] },
      },
    ],
    inputs: [{ name: 'pixel_values', dtype: 'float32', shape: [1, 3, 'h', 'w'] }],
    outputs: ['logits'],
    initializers: { weights: new HostTensor('float32', [5, 3, 4, 4], weights) },
  });
}

/**
 * A model of five queries: masks are those of squares of 4 x 4 pixels, with seeded weights; classes are the same for every picture. The
 * fourth one is nothing, the last one unsure.
 */
export function seededQueries(): Uint8Array {
  const random = seededRandom(5);
  const weights = Float32Array.from({ length: 5 * 3 * 16 }, () => 2 * (random() - 0.5));
  const classes = [
    [4, 0, 0, 0],
    [0, 3, 0, 1],
    [2.5, 0, 0, 0],
    [0, 0, 0, 5],
    [0.2, 0.1, 0.3, 0],
  ];
  return writeOnnxModel({
    nodes: [
      {
        op: 'Conv',
        inputs: ['pixel_values', 'weights'],
        outputs: ['pred_masks'],
        attributes: { kernel_shape: [4, 4], strides: [4, 4] },
      },
      { op: 'Identity', inputs: ['classes'], outputs: ['logits'] },
    ],
    inputs: [{ name: 'pixel_values', dtype: 'float32', shape: [1, 3, 'h', 'w'] }],
    outputs: ['logits', 'pred_masks'],
    initializers: {
      weights: new HostTensor('float32', [5, 3, 4, 4], weights),
      classes: HostTensor.from('float32', [1, 5, 4], classes.flat()),
    },
  });
}

/** Scores of three classes are the levels of red, green and blue. */
export const COLOUR_CLASSES = writeOnnxModel({
  nodes: [{ op: 'Identity', inputs: ['pixel_values'], outputs: ['logits'] }],
  inputs: [{ name: 'pixel_values', dtype: 'float32', shape: [1, 3, 'h', 'w'] }],
  outputs: ['logits'],
});

/** The foreground is what is light: the mean of all channels of squares of 2 x 2 pixels, times a factor, less a shift. */
export function lightnessModel({ factor = 1, shift = 0 } = {}): Uint8Array {
  return writeOnnxModel({
    nodes: [
      {
        op: 'AveragePool',
        inputs: ['input'],
        outputs: ['means'],
        attributes: { kernel_shape: [2, 2], strides: [2, 2] },
      },
      {
        op: 'ReduceMean',
        inputs: ['means'],
        outputs: ['mean'],
        attributes: { axes: [1], keepdims: 1 },
      },
      { op: 'Mul', inputs: ['mean', 'factor'], outputs: ['wide'] },
      { op: 'Sub', inputs: ['wide', 'shift'], outputs: ['output'] },
    ],
    opset: 13,
    inputs: [{ name: 'input', dtype: 'float32', shape: [1, 3, 'h', 'w'] }],
    outputs: ['output'],
    initializers: {
      factor: HostTensor.from('float32', [], [factor]),
      shift: HostTensor.from('float32', [], [shift]),
    },
  });
}
