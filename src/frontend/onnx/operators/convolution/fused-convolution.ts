import type { Expr } from '../../../../compiler/ir/expr.ts';
import type { ImportNode } from '../../import-node.ts';
import { type OperatorImporters, since } from '../../operator-importer.ts';
import { number } from '../elementwise/elementwise.ts';
import { convolveOperands, importConv, importConvTranspose } from './convolution.ts';

/** A convolution, what is added to it, and an activation. */
function importFusedConv(node: ImportNode): Expr {
  const convolved = importConv(node);
  const added = node.inputs[3];
  return activated(node, added === undefined ? convolved : node.call('add', [convolved, added]));
}

function activated(node: ImportNode, x: Expr): Expr {
  const activation = node.attributes.string('activation', '');
  return activate(node, x, {
    activation,
    params: node.attributes.floats('activation_params') ?? [],
  });
}

interface Activation {
  readonly activation: string;
  /** The parameters in order; undefined for defaults. */
  readonly params: readonly (number | undefined)[];
}

/** An activation by the name that ONNX Runtime's fused operators give it. */
export function activate(node: ImportNode, x: Expr, { activation, params }: Activation): Expr {
  const [first, second] = params;
  switch (activation) {
    case '':
      return x;
    case 'Relu':
      return node.call('relu', [x]);
    case 'Tanh':
      return node.call('tanh', [x]);
    case 'Sigmoid':
      return node.call('sigmoid', [x]);
    case 'LeakyRelu':
      return node.call('leaky_relu', [x], { alpha: first ?? 0.01 });
    case 'Clip':
      return node.call('clip', [x], { min: first ?? -Infinity, max: second ?? Infinity });
    case 'HardSigmoid': {
      const scaled = node.call('mul', [x, number(node, x, first ?? 0.2)]);
      const shifted = node.call('add', [scaled, number(node, x, second ?? 0.5)]);
      return node.call('clip', [shifted], { min: 0, max: 1 });
    }
    default:
      throw node.unsupported(
        `activation ${activation}`,
        'Relu, Tanh, Sigmoid, LeakyRelu, Clip or HardSigmoid',
      );
  }
}

/** A convolution with channels last, in the weights too: (filters, height, width, channels). */
function importNhwcConv(node: ImportNode): Expr {
  const [x, weights] = [node.input(0), node.input(1)];
  const rank = node.shape(x).length;
  const axes = Array.from({ length: rank }, (_, axis) => axis);
  const perm = [0, rank - 1, ...axes.slice(1, -1)];
  const [first, ...others] = [x, weights].map((each) => node.call('transpose', [each], { perm }));
  if (first === undefined) throw new Error('internal: a convolution without operands');
  const bias = node.inputs[2];
  const args = [first, ...others, ...(bias === undefined ? [] : [bias])];
  const back = [0, ...axes.slice(2), 1];
  return node.call('transpose', [convolveOperands(node, args)], { perm: back });
}

export const MICROSOFT_CONVOLUTION_IMPORTERS: OperatorImporters = {
  NhwcConv: since(1, 'conv2d transpose reshape conv3d', importNhwcConv),
  FusedConv: since(
    1,
    'conv2d reshape conv3d add relu tanh sigmoid leaky_relu clip mul',
    importFusedConv,
  ),
  FusedConvTranspose: since(1, 'conv_transpose relu tanh sigmoid leaky_relu clip mul add', (node) =>
    activated(node, importConvTranspose(node)),
  ),
};
