import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { type OnnxInputSpec, writeOnnxModel } from '../../testing/onnx-writer.ts';

interface Options {
  readonly shape: OnnxInputSpec['shape'];
  /** Averages each pixel with its neighbours first. */
  readonly isSmooth?: boolean;
  readonly scales?: readonly number[];
}

/** A model that makes four pixels of each. */
export const doubled = ({ shape, isSmooth = false, scales = [1, 1, 2, 2] }: Options): Uint8Array =>
  writeOnnxModel({
    nodes: [
      isSmooth
        ? {
            op: 'AveragePool',
            inputs: ['x'],
            outputs: ['s'],
            attributes: { kernel_shape: [3, 3], pads: [1, 1, 1, 1] },
          }
        : { op: 'Identity', inputs: ['x'], outputs: ['s'] },
      {
        op: 'Resize',
        inputs: ['s', '', 'scales'],
        outputs: ['y'],
        attributes: {
          mode: 'nearest',
          nearest_mode: 'floor',
          coordinate_transformation_mode: 'asymmetric',
        },
      },
    ],
    inputs: [{ name: 'x', shape }],
    outputs: ['y'],
    initializers: { scales: HostTensor.from('float32', [4], scales) },
  });

/** Doubles pictures of any size, in RGB. */
export const DOUBLED = doubled({ shape: [1, 3, 'h', 'w'] });
