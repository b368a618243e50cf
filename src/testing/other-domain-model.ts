import { writeOnnxModel } from './onnx-writer.ts';

/** y = -Op(relu(x)) of float32 (n,), where Op is of `my.domain` and has the attribute `by` of 3. */
export function otherDomainModel(): Uint8Array {
  return writeOnnxModel({
    opset: 17,
    opsets: { 'my.domain': 1 },
    inputs: [{ name: 'x', dtype: 'float32', shape: ['n'] }],
    nodes: [
      { op: 'Relu', inputs: ['x'], outputs: ['r'] },
      { op: 'Op', domain: 'my.domain', inputs: ['r'], outputs: ['a'], attributes: { by: 3 } },
      { op: 'Neg', inputs: ['a'], outputs: ['y'] },
    ],
    outputs: ['y'],
  });
}
