import { HostTensor } from '../../src/core/host-tensor.ts';
import { compileOnnx } from '../../src/frontend/index.ts';
import { writeOnnxModel } from '../../src/testing/onnx-writer.ts';
import { bias, weight } from './outcome.ts';

const ROWS = [0, 1, 2, 3];
const COLUMNS = [0, 1, 2];

/** One dense layer, as a model and as an executable: y = softmax(relu(x · W + b)), x of [1, 4]. */
export function makeModels(): ReadonlyMap<string, Uint8Array> {
  const weights = ROWS.flatMap((row) => COLUMNS.map((column) => weight(row, column)));
  const onnx = writeOnnxModel({
    nodes: [
      { op: 'MatMul', inputs: ['x', 'W'], outputs: ['product'] },
      { op: 'Add', inputs: ['product', 'b'], outputs: ['sum'] },
      { op: 'Relu', inputs: ['sum'], outputs: ['hidden'] },
      { op: 'Softmax', inputs: ['hidden'], outputs: ['y'] },
    ],
    inputs: [{ name: 'x', shape: [1, 4] }],
    outputs: ['y'],
    initializers: {
      W: HostTensor.from('float32', [4, 3], weights),
      b: HostTensor.from('float32', [3], COLUMNS.map(bias)),
    },
  });
  return new Map([
    ['dense.onnx', onnx],
    ['dense.weft', compileOnnx(onnx).toBytes()],
  ]);
}
