import { HostTensor } from '../../src/core/tensor/host-tensor.ts';
import { seededRandom } from '../../src/core/random.ts';
import { writeOnnxModel } from '../../src/testing/onnx-writer.ts';

export const MODEL_ROWS = 1024;
export const MODEL_COLUMNS = 1536;

/** A model with one weight of 6 MB. */
export function modelFile(): Uint8Array {
  const random = seededRandom(3);
  const weights = Float32Array.from({ length: MODEL_ROWS * MODEL_COLUMNS }, () => random() - 0.5);
  return writeOnnxModel({
    nodes: [
      { op: 'MatMul', inputs: ['x', 'w'], outputs: ['p'] },
      { op: 'Relu', inputs: ['p'], outputs: ['y'] },
    ],
    inputs: [{ name: 'x', dtype: 'float32', shape: ['n', MODEL_ROWS] }],
    outputs: ['y'],
    initializers: { w: new HostTensor('float32', [MODEL_ROWS, MODEL_COLUMNS], weights) },
  });
}
