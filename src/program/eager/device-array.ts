import { internalError } from '../../core/errors.ts';
import type { TensorTypeNode } from '../../compiler/ir/type.ts';
import { DeviceTensor } from '../../client/values/device-tensor.ts';
import type { OutputValue } from '../../client/values/session-value.ts';
import { type ArrayState, dataOf, leafState } from '../array-state.ts';
import { releaseWithLeaf } from './release.ts';
import { noteInScope } from './scope.ts';

/** The array of a result of a run, at a position; its elements stay on the device. */
export function deviceArray(
  type: TensorTypeNode,
  results: Promise<readonly OutputValue[]>,
  position: number,
): ArrayState {
  const state = leafState(type, { device: tensorAt(results, position) });
  if (state.expr.kind === 'var') releaseWithLeaf(state.expr, dataOf(state.expr));
  noteInScope(state);
  return state;
}

/** A result of a run. Whoever reads the array gets the error of a run that fails. */
export function tensorAt(
  results: Promise<readonly OutputValue[]>,
  position: number,
): Promise<DeviceTensor> {
  const tensor = results.then((values) => {
    const value = values[position];
    if (value instanceof DeviceTensor) return value;
    throw internalError('a result that is no tensor');
  });
  tensor.catch(() => undefined);
  return tensor;
}
