import { encode } from 'flatbuffers/js/flexbuffers.js';
import type { TfliteModelSpec, TfliteTensorSpec } from './tflite-writer.ts';

const float = (shape: readonly number[], data?: readonly number[]): TfliteTensorSpec => ({
  dtype: 'float32',
  shape,
  ...(data === undefined ? {} : { data }),
});

const ints = (data: readonly number[]): TfliteTensorSpec => ({
  dtype: 'int32',
  shape: [data.length],
  data,
});

const window = { padding: 0, strideW: 1, strideH: 1 };

/** Small models that have each part of a file: for changes to its bytes. */
export const SAMPLE_MODELS: readonly TfliteModelSpec[] = [
  {
    description: 'a convolution with weights in float16',
    graphs: [
      {
        tensors: {
          x: { ...float([1, 3, 3, 1]), signature: [-1, 3, 3, 1] },
          half: { dtype: 'float16', shape: [2, 2, 2, 1], data: [1, 2, 3, 4, 5, 6, 7, 8] },
          w: float([2, 2, 2, 1]),
          b: float([2], [0, 1]),
          c: float([1, 3, 3, 2]),
          axes: ints([1, 2]),
          y: float([1, 2]),
        },
        inputs: ['x'],
        outputs: ['y'],
        operators: [
          { op: 'DEQUANTIZE', inputs: ['half'], outputs: ['w'] },
          {
            op: 'CONV_2D',
            inputs: ['x', 'w', 'b'],
            outputs: ['c'],
            options: ['conv2d', { ...window, activation: 1 }],
          },
          { op: 'MEAN', inputs: ['c', 'axes'], outputs: ['y'], options: ['reducer', {}] },
        ],
      },
    ],
    signatures: [{ key: 'serving', inputs: { image: 'x' }, outputs: { scores: 'y' } }],
    metadata: { note: Uint8Array.of(1, 2, 3) },
  },
  {
    description: 'sparse weights, and an operator of a name',
    graphs: [
      {
        tensors: {
          x: float([1, 4]),
          stored: {
            ...float([2, 4], [1, 2, 3, 4]),
            sparsity: {
              order: [0, 1, 2],
              blockMap: [1],
              dimensions: [
                { size: 2, segments: undefined, indices: undefined },
                { size: 0, segments: [0, 1, 2], indices: [1, 0] },
                { size: 2, segments: undefined, indices: undefined },
              ],
            },
          },
          w: float([2, 4]),
          f: float([1, 2]),
          map: float([1, 2, 2, 1], [1, 2, 3, 4]),
          m: float([1, 4, 4], [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]),
          crop: float([1, 2, 2, 1]),
        },
        inputs: ['x'],
        outputs: ['f', 'crop'],
        operators: [
          { op: 'DENSIFY', inputs: ['stored'], outputs: ['w'] },
          {
            op: 'FULLY_CONNECTED',
            inputs: ['x', 'w', ''],
            outputs: ['f'],
            options: ['fullyConnected', {}],
          },
          {
            op: 'TransformTensorBilinear',
            version: 2,
            customOptions: encode({ output_height: 2, output_width: 2 }),
            inputs: ['map', 'm'],
            outputs: ['crop'],
          },
        ],
      },
    ],
  },
  {
    description: 'a loop',
    graphs: [
      {
        tensors: { x: float([2]), y: float([2]) },
        inputs: ['x'],
        outputs: ['y'],
        operators: [
          {
            op: 'WHILE',
            inputs: ['x'],
            outputs: ['y'],
            options: ['while', { condition: 1, body: 2 }],
          },
        ],
      },
      {
        tensors: {
          x: float([2]),
          most: float([2], [0, 0]),
          less: { dtype: 'bool', shape: [2] },
          axes: ints([0]),
          holds: { dtype: 'bool', shape: [] },
        },
        inputs: ['x'],
        outputs: ['holds'],
        operators: [
          { op: 'LESS', inputs: ['x', 'most'], outputs: ['less'] },
          {
            op: 'REDUCE_ANY',
            inputs: ['less', 'axes'],
            outputs: ['holds'],
            options: ['reducer', {}],
          },
        ],
      },
      {
        tensors: { x: float([2]), k: float([1], [10]), y: float([2]) },
        inputs: ['x'],
        outputs: ['y'],
        operators: [{ op: 'ADD', inputs: ['x', 'k'], outputs: ['y'], options: ['add', {}] }],
      },
    ],
  },
];
