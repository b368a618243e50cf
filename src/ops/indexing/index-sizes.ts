import type { Dim } from '../../core/dims/dim.ts';
import type { Attributes, TensorType } from '../../core/contracts/primitive-function.ts';
import { gather } from '../movement/gather.ts';
import { gatherElements } from './gather-elements.ts';
import { gatherNd } from './gather-nd.ts';
import { scatterElements } from './scatter-elements.ts';
import { scatterNd } from './scatter-nd.ts';

/**
 * The sizes that the indices of a call, its second operand, have to keep to: one for all of them, or one for each place
 * along their last axis. None for an operator without such indices.
 */
export function indexSizes(
  op: string,
  { axis = 0, batch_dims: first = 0 }: Attributes,
  [x, indices]: readonly TensorType[],
): readonly Dim[] {
  const sizes = x?.shape ?? [];
  if (ALONG_AXIS.includes(op)) return [sizes.at(Number(axis)) ?? 0];
  if (!BY_TUPLES.includes(op)) return [];
  return sizes.slice(Number(first), Number(first) + Number(indices?.shape.at(-1)));
}

const ALONG_AXIS: readonly string[] = [gather.name, gatherElements.name, scatterElements.name];
const BY_TUPLES: readonly string[] = [gatherNd.name, scatterNd.name];
