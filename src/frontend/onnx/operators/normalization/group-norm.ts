import type { Expr } from '../../../../compiler/ir/expr.ts';
import { countElements } from '../../../../core/dim-context.ts';
import type { ImportNode } from '../../import-node.ts';
import { cast } from '../elementwise/elementwise.ts';

/** GroupNorm of ONNX Runtime: x, scale and shift of each channel. */
export function importGroupNorm(node: ImportNode): Expr {
  return groupNorm(node, node.input(0));
}

/** The same of x + skip + bias, which is the second output. */
export function importSkipGroupNorm(node: ImportNode): readonly Expr[] {
  const [x, skip, bias] = [node.input(0), node.input(3), node.inputs[4]];
  const shape = node.shape(x);
  const [batch = 1, ...others] = node.shape(skip);
  // One value for each channel of an image.
  const isFlat = others.length === 1;
  const spatial = shape.slice(2).map(() => 1);
  const channels = others.at(-1) ?? 1;
  const wide = isLast(node) ? [batch, ...spatial, channels] : [batch, channels, ...spatial];
  const skipped = node.call('add', [x, isFlat ? node.reshape(skip, wide) : skip]);
  const sum =
    bias === undefined
      ? skipped
      : node.call('add', [skipped, overChannels(node, bias, shape.length)]);
  return [groupNorm(node, sum), sum];
}

function isLast(node: ImportNode): boolean {
  return node.attributes.bool('channels_last', true);
}

/** A vector of the channels, to broadcast over a tensor of a rank. */
function overChannels(node: ImportNode, vector: Expr, rank: number): Expr {
  if (isLast(node)) return vector;
  return node.reshape(vector, [...node.shape(vector), ...new Array<number>(rank - 2).fill(1)]);
}

function groupNorm(node: ImportNode, x: Expr): Expr {
  const { attributes, dims } = node;
  const groups = attributes.int('groups', 0);
  if (groups < 1) throw node.malformed(`groups ${groups}`, '1 or more');
  const epsilon = attributes.float('epsilon', 1e-5);
  const activation = attributes.int('activation', 0);
  if (activation !== 0 && activation !== 1) {
    throw node.malformed(`activation ${activation}`, '0 for none or 1 for SiLU');
  }
  const shape = node.shape(x);
  const [batch = 1] = shape;
  const isChannelsLast = isLast(node);
  const channels = (isChannelsLast ? shape.at(-1) : shape[1]) ?? 1;
  const places = countElements(isChannelsLast ? shape.slice(1, -1) : shape.slice(2), dims);
  const each = dims.floordiv(channels, groups);
  const perm = [0, 2, 1, 3];
  const grouped = isChannelsLast
    ? node.call('transpose', [node.reshape(x, [batch, places, groups, each])], { perm })
    : x;
  const rows = node.reshape(grouped, [batch, groups, dims.mul(places, each)]);
  const normal = node.call('layer_norm', [rows], { epsilon });
  const split = (): Expr => node.reshape(normal, [batch, groups, places, each]);
  const ordered = isChannelsLast ? node.call('transpose', [split()], { perm }) : normal;
  const { dtype } = node.type(x);
  const [scale, shift] = [1, 2].map((index) =>
    cast(node, overChannels(node, node.input(index), shape.length), dtype),
  );
  if (scale === undefined || shift === undefined) throw new Error('internal: no parameters');
  const scaled = node.call('mul', [node.reshape(ordered, shape), scale]);
  const result = node.call('add', [scaled, shift]);
  return activation === 0 ? result : node.call('mul', [result, node.call('sigmoid', [result])]);
}
