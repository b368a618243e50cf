import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { type OnnxNodeSpec, writeOnnxModel } from '../../testing/onnx-writer.ts';

/** A model of 8 x 8 pixels, or as many as `side` says, that says the same of every picture. */
export function constantDetector(
  outputs: Readonly<Record<string, HostTensor>>,
  side = 8,
): Uint8Array {
  const nodes: OnnxNodeSpec[] = [
    { op: 'ReduceMean', inputs: ['x'], outputs: ['mean'], attributes: { keepdims: 0 } },
    { op: 'Mul', inputs: ['mean', 'zero'], outputs: ['none'] },
    { op: 'Cast', inputs: ['none'], outputs: ['none.int64'], attributes: { to: 7 } },
    ...Object.entries(outputs).map(([name, { dtype }]) => ({
      op: 'Add',
      inputs: [`${name}.value`, dtype === 'int64' ? 'none.int64' : 'none'],
      outputs: [name],
    })),
  ];
  const values = Object.entries(outputs).map(([name, value]) => [`${name}.value`, value] as const);
  return writeOnnxModel({
    nodes,
    opset: 13,
    inputs: [{ name: 'x', dtype: 'float32', shape: [1, 3, side, side] }],
    outputs: Object.keys(outputs),
    initializers: { zero: HostTensor.from('float32', [], [0]), ...Object.fromEntries(values) },
  });
}
