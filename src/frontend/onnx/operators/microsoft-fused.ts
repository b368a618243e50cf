import type { Expr } from '../../../compiler/ir/expr.ts';
import type { ImportNode, NodeImporter } from '../import-node.ts';
import { importConv, importConvTranspose } from './convolution.ts';
import { number } from './elementwise.ts';
import { multiply } from './products.ts';

/** An operand of FusedMatMul as the product wants it. */
function turned(
  node: ImportNode,
  expr: Expr,
  { transpose, batchFirst }: { readonly transpose: boolean; readonly batchFirst: boolean },
): Expr {
  const rank = node.shape(expr).length;
  if (rank < 2) return expr;
  let perm = Array.from({ length: rank }, (_, axis) => axis);
  // The rows stand before the batch axes.
  if (batchFirst) perm = [...perm.slice(1, -1), 0, rank - 1];
  if (transpose) perm = [...perm.slice(0, -2), ...perm.slice(-2).reverse()];
  return perm.every((from, to) => from === to) ? expr : node.call('transpose', [expr], { perm });
}

function importFusedMatMul(node: ImportNode): Expr {
  const operand = (index: number, side: string): Expr =>
    turned(node, node.input(index), {
      transpose: node.attributes.bool(`trans${side}`),
      batchFirst: node.attributes.bool(`transBatch${side}`),
    });
  const product = multiply(node, operand(0, 'A'), operand(1, 'B'));
  const alpha = node.attributes.float('alpha', 1);
  if (alpha === 1) return product;
  return node.call('mul', [product, number(node, product, alpha)]);
}

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

const biasGelu =
  (approximate: 'none' | 'tanh'): NodeImporter =>
  (node) => {
    const bias = node.inputs[1];
    const x = node.input(0);
    const sum = bias === undefined ? x : node.call('add', [x, bias]);
    return node.call('gelu', [sum], { approximate });
  };

function importQuickGelu(node: ImportNode): Expr {
  const x = node.input(0);
  const alpha = number(node, x, node.attributes.float('alpha', 1.702));
  return node.call('mul', [x, node.call('sigmoid', [node.call('mul', [x, alpha])])]);
}

function importBiasAdd(node: ImportNode): Expr {
  return node.chain('add', [node.input(0), node.input(1), node.input(2)]);
}

/** The first half of the channels times GELU of the second. */
function importBiasSplitGelu(node: ImportNode): Expr {
  const x = node.call('add', [node.input(0), node.input(1)]);
  const shape = node.shape(x);
  const channels = shape.at(-1) ?? 1;
  const half = node.dims.floordiv(channels, 2);
  const lead = shape.slice(0, -1);
  const zeros = lead.map(() => 0);
  const steps = shape.map(() => 1);
  const left = { starts: [...zeros, 0], ends: [...lead, half], steps };
  const right = { starts: [...zeros, half], ends: shape, steps };
  const gate = node.call('gelu', [node.call('slice', [x], right)], { approximate: 'none' });
  return node.call('mul', [node.call('slice', [x], left), gate]);
}

export const MICROSOFT_FUSED_IMPORTERS: Readonly<Record<string, NodeImporter>> = {
  BiasAdd: importBiasAdd,
  BiasGelu: biasGelu('none'),
  BiasSplitGelu: importBiasSplitGelu,
  FastGelu: biasGelu('tanh'),
  FusedConv: importFusedConv,
  FusedConvTranspose: (node) => activated(node, importConvTranspose(node)),
  FusedMatMul: importFusedMatMul,
  Gelu: (node) => node.call('gelu', [node.input(0)], { approximate: 'none' }),
  QuickGelu: importQuickGelu,
};
