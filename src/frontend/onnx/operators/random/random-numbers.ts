import type { Expr } from '../../../../compiler/ir/expr.ts';
import type { Dim } from '../../../../core/dims/dim.ts';
import { uniformNumbers } from '../../../../ops/random/threefry.ts';
import type { ImportNode } from '../../import-node.ts';
import { NodeGraphTarget } from '../../node-graph-target.ts';

/** The core operators that {@link uniform} makes. */
export const UNIFORM_MAKES = 'add mul threefry arange shift_right cast reshape';

/**
 * Numbers from 0 up to 1, without 1, float32: in a training program others for each step; elsewhere those of the seed, or
 * of the place of the node where it has none, and the same in each run and on each device.
 */
export function uniform(node: ImportNode, shape: readonly Dim[], seed: number | undefined): Expr {
  const key = node.context.training?.key(node) ?? node.scalar(seed ?? 0, 'int32');
  const target = new NodeGraphTarget(node);
  const stream = node.context.nextRandomStream();
  return target.exprOf(uniformNumbers(target.builder, target.tensor(key), { stream, shape }));
}
