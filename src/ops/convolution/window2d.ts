import { CONCRETE_DIMS } from '../../core/dims/dim-context.ts';
import type { LoweringCall } from '../lowering/lowering.ts';
import { type WindowAxis, windowAxes, UNIT_AXIS } from './window.ts';

/** A convolution's sliding window over NCHW images. */
export interface Window2d {
  readonly batch: number;
  readonly channels: number;
  readonly outChannels: number;
  readonly rows: WindowAxis;
  readonly columns: WindowAxis;
}

/** Of a call whose first input and output are NCHW, and whose second input has the window. */
export function window2d({ inputs, output, attributes }: LoweringCall): Window2d {
  const [x = [], w = []] = [inputs[0]?.shape, inputs[1]?.shape];
  const options = { name: 'convolution', kernel: w.slice(2), ceilMode: false, dims: CONCRETE_DIMS };
  const [rows = UNIT_AXIS, columns = UNIT_AXIS] = windowAxes(x, attributes, options);
  return {
    batch: x[0] ?? 1,
    channels: x[1] ?? 1,
    outChannels: output.shape[1] ?? 1,
    rows,
    columns,
  };
}
