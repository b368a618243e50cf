import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { writeOnnxModel } from '../../testing/onnx-writer.ts';

/** Logits are ten times the mean of each channel. */
export const COLOURS = writeOnnxModel({
  nodes: [
    { op: 'GlobalAveragePool', inputs: ['pixel_values'], outputs: ['means'] },
    { op: 'Flatten', inputs: ['means'], outputs: ['flat'] },
    { op: 'Mul', inputs: ['flat', 'ten'], outputs: ['logits'] },
  ],
  inputs: [{ name: 'pixel_values', dtype: 'float32', shape: ['batch', 3, 4, 4] }],
  outputs: ['logits'],
  initializers: { ten: HostTensor.from('float32', [1], [10]) },
});
