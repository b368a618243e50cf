import { elementCount } from '../../core/shape.ts';
import type { WorkFunction } from '../work-function.ts';
import type { SignalName } from './signal-ops.ts';

/** Counts a transform as its definition has it: a product with the twiddles. */
const transformWork: WorkFunction = ({ inputs, output }) =>
  4 * elementCount(output.shape) * (inputs[1]?.shape[0] ?? 1);

export const SIGNAL_WORK: Readonly<Partial<Record<SignalName, WorkFunction>>> = {
  dft: transformWork,
};
