import { UsageError } from '../../core/errors.ts';
import type { Tensor } from '../../client/values/tensor.ts';
import { addReader, type ArrayState, requireLive } from '../array-state.ts';
import { siteOr } from '../call-site.ts';
import { realize } from './realize.ts';

/** Waits for the elements of an array, whose computation begins now if it has not. */
export async function readState(state: ArrayState): Promise<Tensor> {
  requireLive(state);
  if (state.frame !== undefined) {
    throw new UsageError({
      where: siteOr('read'),
      got: 'an array in the body of a program, which has no elements yet',
      expected: 'an eager array, such as a result of a program',
      remedy: 'Return it from the body, or choose by If and loop what depends on elements.',
    });
  }
  realize([state]);
  const { data } = state;
  if (data?.host !== undefined) return data.host;
  if (data?.device === undefined) throw new Error('internal: an array without elements');
  const read = data.device.then((tensor) => tensor.read());
  addReader(data, read);
  return read;
}
