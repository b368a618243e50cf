import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { writeOnnxModel } from '../../testing/onnx-writer.ts';
import type { OcrSources } from '../ocr/ocr.ts';
import { drawnPicture } from './test-pictures.ts';

/** Finds text where a picture is dark. */
export const DETECTION = writeOnnxModel({
  nodes: [
    { op: 'ReduceMean', inputs: ['x'], outputs: ['mean'], attributes: { axes: [1], keepdims: 1 } },
    { op: 'Neg', inputs: ['mean'], outputs: ['dark'] },
    { op: 'Sigmoid', inputs: ['dark'], outputs: ['map'] },
  ],
  opset: 13,
  inputs: [{ name: 'x', dtype: 'float32', shape: [1, 3, 'h', 'w'] }],
  outputs: ['map'],
});

/** Each 8 columns are a step: red, green or blue, or blank where it is none of them. */
export const RECOGNITION = writeOnnxModel({
  nodes: [
    {
      op: 'AveragePool',
      inputs: ['x'],
      outputs: ['pooled'],
      attributes: { kernel_shape: [48, 8], strides: [48, 8] },
    },
    { op: 'Squeeze', inputs: ['pooled', 'two'], outputs: ['squeezed'] },
    { op: 'Transpose', inputs: ['squeezed'], outputs: ['steps'], attributes: { perm: [0, 2, 1] } },
    { op: 'MatMul', inputs: ['steps', 'weights'], outputs: ['classes'] },
    { op: 'Add', inputs: ['classes', 'bias'], outputs: ['logits'] },
    { op: 'Softmax', inputs: ['logits'], outputs: ['y'], attributes: { axis: 2 } },
  ],
  opset: 13,
  inputs: [{ name: 'x', dtype: 'float32', shape: ['n', 3, 48, 'w'] }],
  outputs: ['y'],
  initializers: {
    two: HostTensor.from('int64', [1], [2n]),
    // Blue is the first channel of the model, red the first character.
    weights: HostTensor.from('float32', [3, 4], [0, -6, -6, 9, 0, -6, 9, -6, 0, 9, -6, -6]),
    bias: HostTensor.from('float32', [4], [3, 0, 0, 0]),
  },
});

/** Reads patches of colour as letters. */
export const COLOUR_TEXT: OcrSources = {
  detection: DETECTION,
  recognition: RECOGNITION,
  dictionary: new TextEncoder().encode('r\ng\nb\n'),
};
export const RED = [200, 0, 0] as const;
const GREEN = [0, 200, 0] as const;
export const BLUE = [0, 0, 200] as const;
/** A letter of 16 x 12 pixels. */
export const patch = (left: number, top: number, colour: readonly [number, number, number]) => ({
  left,
  top,
  width: 16,
  height: 12,
  colour,
});

/** A picture with the text "rb g", and "grb" below. */
export const WRITTEN = drawnPicture(160, 96, [
  patch(16, 16, RED),
  patch(32, 16, BLUE),
  patch(112, 16, GREEN),
  patch(40, 60, GREEN),
  patch(56, 60, RED),
  patch(72, 60, BLUE),
]);
