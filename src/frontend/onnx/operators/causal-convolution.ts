import type { Expr } from '../../../compiler/ir/expr.ts';
import type { ImportNode } from '../import-node.ts';
import { number } from './elementwise.ts';
import { sliceAlong } from './slice-along.ts';

/**
 * Each channel of (batch, channels, length) convolved with its own kernel over what came before, of
 * which the state has the last elements. Outputs: the result and the next state.
 */
export function importCausalConvWithState(node: ImportNode): readonly Expr[] {
  const [x, weight, bias] = [node.input(0), node.input(1), node.inputs[2]];
  const [batch = 1, channels = 1, length = 1] = node.shape(x);
  const taps = node.shape(weight)[2] ?? 1;
  const memory = node.dims.sub(taps, 1);
  const past =
    node.inputs[3] ??
    node.call('broadcast_to', [number(node, x, 0)], { shape: [batch, channels, memory] });
  const whole = memory === 0 ? x : node.call('concat', [past, x], { axis: 2 });
  const image = node.reshape(whole, [batch, channels, 1, node.dims.add(length, memory)]);
  const kernel = node.reshape(weight, [channels, 1, 1, taps]);
  const operands = bias === undefined ? [image, kernel] : [image, kernel, bias];
  const convolved = node.reshape(
    node.call('conv2d', operands, {
      strides: [1, 1],
      pads: [0, 0, 0, 0],
      dilations: [1, 1],
      groups: node.number(channels, 'the number of channels'),
    }),
    [batch, channels, length],
  );
  const end = node.dims.add(length, memory);
  const state = sliceAlong(node, whole, { axis: 2, start: length, end });
  return [activated(node, convolved), state];
}

function activated(node: ImportNode, x: Expr): Expr {
  const activation = node.attributes.string('activation', 'none');
  if (activation === 'none') return x;
  if (activation === 'silu' || activation === 'swish') {
    return node.call('mul', [x, node.call('sigmoid', [x])]);
  }
  throw node.malformed(`activation ${activation}`, 'none, silu or swish');
}
