import type { Expr } from '../../../../compiler/ir/expr.ts';
import type { ImportNode } from '../../import-node.ts';
import { type OperatorImporters, since } from '../../operator-importer.ts';
import { refuseAttributes } from '../refuse-attributes.ts';
import { number } from '../elementwise/elementwise.ts';
import { sliceAlong } from '../movement/slice-along.ts';

/**
 * Each channel of (batch, channels, length) convolved with its own kernel over what came before, of
 * which the state has the last elements. Outputs: the result and the next state.
 */
function importCausalConvWithState(node: ImportNode): readonly Expr[] {
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

/** ONNX's own has no attributes for more axes, other layouts and gaps between taps. */
function importMicrosoftCausalConv(node: ImportNode): readonly Expr[] {
  refuseAttributes(node, ['channels_last', 'state_window']);
  for (const name of ['ndim', 'dilation']) {
    const value = node.attributes.int(name, 1);
    if (value !== 1) throw node.unsupported(`${name} ${value}`, '1');
  }
  return importCausalConvWithState(node);
}

export const CAUSAL_CONVOLUTION_IMPORTERS: OperatorImporters = {
  CausalConvWithState: since(
    27,
    'conv2d broadcast_to concat reshape slice sigmoid mul',
    importCausalConvWithState,
  ),
};

export const MICROSOFT_CAUSAL_CONVOLUTION_IMPORTERS: OperatorImporters = {
  CausalConvWithState: since(
    1,
    'conv2d broadcast_to concat reshape slice sigmoid mul',
    importMicrosoftCausalConv,
  ),
};
