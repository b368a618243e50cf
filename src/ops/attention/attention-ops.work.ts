import { elementCount } from '../../core/shape.ts';
import type { WorkFunction } from '../work-function.ts';
import type { AttentionName } from './attention-ops.ts';

/** Each element of the queries, and of the result, meets all keys. */
const productsWork: WorkFunction = ({ inputs, output }) => {
  const keys = inputs[1]?.shape.at(-2) ?? 1;
  return 2 * keys * (elementCount(inputs[0]?.shape ?? []) + elementCount(output.shape));
};

/** Each position changes the state and is multiplied by it. */
const stateWork: WorkFunction = ({ inputs }) => {
  const positions = inputs[0]?.shape[1] ?? 1;
  return 4 * positions * elementCount(inputs[3]?.shape ?? []);
};

export const ATTENTION_WORK: Readonly<Partial<Record<AttentionName, WorkFunction>>> = {
  cached_attention: productsWork,
  scaled_dot_product_attention: productsWork,
  linear_attention: stateWork,
};
