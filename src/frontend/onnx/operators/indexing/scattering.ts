import { type OperatorImporters, since } from '../../operator-importer.ts';
import type { Expr } from '../../../../compiler/ir/expr.ts';
import { alongAxis, indicesInput } from '../../check-indices.ts';
import type { ImportNode } from '../../import-node.ts';
import { alongAxes, axisSize } from './indexing.ts';

const REDUCTIONS = ['none', 'add', 'mul', 'max', 'min'];

function scatterReduction(node: ImportNode): string {
  const reduction = node.attributes.string('reduction', 'none');
  if (REDUCTIONS.includes(reduction)) return reduction;
  throw node.malformed(`reduction ${reduction}`, REDUCTIONS.join(', '));
}

function importScatterElements(node: ImportNode): Expr {
  const reduction = node.opset >= 16 ? scatterReduction(node) : 'none';
  const axis = node.attributes.int('axis', 0);
  const [x, updates] = [node.input(0), node.input(2)];
  const indices = indicesInput(node, 1, alongAxis(node, axisSize(node, x, axis)));
  return node.call('scatter_elements', [x, indices, updates], { axis, reduction });
}

function importScatterND(node: ImportNode): Expr {
  const reduction = node.opset >= 16 ? scatterReduction(node) : 'none';
  const [x, updates] = [node.input(0), node.input(2)];
  const indices = indicesInput(node, 1, alongAxes(node, x, node.input(1), 0));
  return node.call('scatter_nd', [x, indices, updates], { reduction });
}

export const SCATTERING_IMPORTERS: OperatorImporters = {
  Scatter: since(9, 'scatter_elements', importScatterElements),
  ScatterElements: since(11, 'scatter_elements', importScatterElements),
  ScatterND: since(11, 'scatter_nd', importScatterND),
};
