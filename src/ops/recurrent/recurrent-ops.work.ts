import { elementCount } from '../../core/shape.ts';
import type { WorkFunction } from '../work-function.ts';
import type { RecurrentName } from './recurrent-ops.ts';

/** Each element of the projected input takes a column of the weights. */
const recurrentWork: WorkFunction = ({ inputs }) =>
  2 * elementCount(inputs[0]?.shape ?? []) * (inputs[1]?.shape[1] ?? 1);

export const RECURRENT_WORK: Readonly<Record<RecurrentName, WorkFunction>> = {
  recurrent: recurrentWork,
};
