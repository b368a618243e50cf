import { HostTensor } from '../../src/core/tensor/host-tensor.ts';
import { compileOnnx } from '../../src/frontend/index.ts';
import {
  type OnnxGraphSpec,
  type OnnxNodeSpec,
  writeOnnxModel,
} from '../../src/testing/onnx-writer.ts';
import { seededRandom } from '../../src/core/random.ts';

export const FEATURES = 24;

/** {@link smallOnnx} as an executable. */
export function smallModel(isBranching: boolean): Uint8Array<ArrayBuffer> {
  return compileOnnx(smallOnnx(isBranching)).toBytes();
}

/**
 * A model with weights, a symbolic size and a softmax. `isBranching`: with a branch on what the device
 * computed, for which a run waits in its middle; else repeated runs are recorded.
 */
export function smallOnnx(isBranching: boolean): Uint8Array {
  const random = seededRandom(5);
  const weights = (...shape: number[]): HostTensor => {
    const count = shape.reduce((product, dim) => product * dim, 1);
    return HostTensor.from(
      'float32',
      shape,
      Array.from({ length: count }, () => random() - 0.5),
    );
  };
  const branch = (op: string): { graph: OnnxGraphSpec } => ({
    graph: { nodes: [{ op, inputs: ['h'], outputs: [`${op}_h`] }], outputs: [`${op}_h`] },
  });
  const chosen: readonly OnnxNodeSpec[] = [
    { op: 'ReduceSum', inputs: ['h'], outputs: ['sum'], attributes: { keepdims: 0 } },
    { op: 'Greater', inputs: ['sum', 'zero'], outputs: ['c'] },
    {
      op: 'If',
      inputs: ['c'],
      outputs: ['a'],
      attributes: { then_branch: branch('Relu'), else_branch: branch('Tanh') },
    },
  ];
  return writeOnnxModel({
    inputs: [{ name: 'x', dtype: 'float32', shape: ['n', FEATURES] }],
    outputs: ['y'],
    initializers: {
      w1: weights(FEATURES, 40),
      b1: weights(40),
      w2: weights(40, FEATURES),
      zero: HostTensor.from('float32', [], [0]),
    },
    nodes: [
      { op: 'MatMul', inputs: ['x', 'w1'], outputs: ['p'] },
      { op: 'Add', inputs: ['p', 'b1'], outputs: ['h'] },
      ...(isBranching ? chosen : [{ op: 'Relu', inputs: ['h'], outputs: ['a'] }]),
      { op: 'MatMul', inputs: ['a', 'w2'], outputs: ['q'] },
      { op: 'Softmax', inputs: ['q'], outputs: ['y'], attributes: { axis: -1 } },
    ],
  });
}
