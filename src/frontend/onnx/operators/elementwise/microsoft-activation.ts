import type { Expr } from '../../../../compiler/ir/expr.ts';
import type { ImportNode, NodeImporter } from '../../import-node.ts';
import { type OperatorImporters, since } from '../../operator-importer.ts';
import { number } from './elementwise.ts';
import { sliceAlong } from '../movement/slice-along.ts';

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
  const axis = shape.length - 1;
  const end = shape[axis] ?? 1;
  const half = node.dims.floordiv(end, 2);
  const left = sliceAlong(node, x, { axis, start: 0, end: half });
  const right = sliceAlong(node, x, { axis, start: half, end });
  return node.call('mul', [left, node.call('gelu', [right], { approximate: 'none' })]);
}

export const MICROSOFT_ACTIVATION_IMPORTERS: OperatorImporters = {
  BiasAdd: since(1, 'add', importBiasAdd),
  BiasGelu: since(1, 'gelu add', biasGelu('none')),
  BiasSplitGelu: since(1, 'gelu add slice mul', importBiasSplitGelu),
  FastGelu: since(1, 'gelu add', biasGelu('tanh')),
  Gelu: since(1, 'gelu', (node) => node.call('gelu', [node.input(0)], { approximate: 'none' })),
  QuickGelu: since(1, 'sigmoid mul', importQuickGelu),
};
