import type { Expr } from '../../../../compiler/ir/expr.ts';
import type { ImportNode } from '../../import-node.ts';
import type { OperatorImporters } from '../../operator-importer.ts';
import { number } from '../elementwise/elementwise.ts';
import { importConv, importConvTranspose } from './convolution.ts';

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
  readonly params: readonly number[];
}

function activate(node: ImportNode, x: Expr, { activation, params }: Activation): Expr {
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

export const MICROSOFT_CONVOLUTION_IMPORTERS: OperatorImporters = {
  FusedConv: {
    since: 1,
    makes: 'conv2d reshape conv3d add relu tanh sigmoid leaky_relu clip mul',
    import: importFusedConv,
  },
  FusedConvTranspose: {
    since: 1,
    makes: 'conv_transpose relu tanh sigmoid leaky_relu clip mul add',
    import: (node) => activated(node, importConvTranspose(node)),
  },
};
