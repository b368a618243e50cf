import type { Expr } from '../../../../compiler/ir/expr.ts';
import { formatDim } from '../../../../core/dims/dim.ts';
import { formatShape } from '../../../../core/tensor/shape.ts';
import type { ImportNode } from '../../import-node.ts';
import { type OperatorImporters, since } from '../../operator-importer.ts';
import { dtypeFromOnnx } from '../../protobuf/read-tensor.ts';
import { attend, attendUnseen } from './scaled-attention.ts';

/** A graph of the node as a function from a tensor to one of the same type; undefined where there is none. */
function change(node: ImportNode, name: string): ((x: Expr) => Expr) | undefined {
  if (!node.attributes.has(name)) return undefined;
  const graph = node.subgraph(name);
  if (graph.inputNames.length !== 1 || graph.outputNames.length !== 1) {
    throw node.malformed(
      `${name} of ${graph.inputNames.length} inputs and ${graph.outputNames.length} outputs`,
      'one of each',
    );
  }
  return (x) => {
    const [y] = graph.importInto(node.block, [x]);
    if (y === undefined) throw new Error('internal: a graph without an output');
    const [given, wanted] = [node.type(y), node.type(x)];
    const isSame = given.dtype === wanted.dtype && given.shape.length === wanted.shape.length;
    if (isSame) return node.tensor(y);
    const format = ({ dtype, shape }: typeof given): string =>
      `${dtype} ${formatShape(shape.map(formatDim))}`;
    throw node.malformed(`${name} that gives ${format(given)}`, `${format(wanted)}, as it gets`);
  };
}

/**
 * FlexAttention: query, key and value (batch, heads, rows, size), and graphs that change scores and weights: J. Dong et
 * al., "Flex Attention" (2024).
 */
function importFlexAttention(node: ImportNode): Expr {
  const { attributes } = node;
  const [query, key, value] = [node.input(0), node.input(1), node.input(2)];
  const ranks = [query, key, value].map((x) => node.shape(x).length);
  if (ranks.some((rank) => rank !== 4)) {
    throw node.malformed(`operands of ranks ${ranks.join(', ')}`, 'rank 4');
  }
  const { dtype } = node.type(query);
  const precision = attributes.int('softmax_precision', 0);
  const byDefault = dtype === 'float64' ? dtype : 'float32';
  const softmaxDType = precision === 0 ? byDefault : dtypeFromOnnx(precision, node.where);
  const [changeScores, changeWeights] = ['score_mod', 'prob_mod'].map((name) => change(node, name));
  const spec = { query, key, value, scale: attributes.float('scale') };
  if (changeScores === undefined && changeWeights === undefined && precision === 0) {
    return attendUnseen(node, spec);
  }
  return attend(node, {
    ...spec,
    softmaxDType,
    ...(changeScores && { changeScores }),
    ...(changeWeights && { changeWeights }),
  }).output;
}

export const FLEX_ATTENTION_IMPORTERS: OperatorImporters = {
  FlexAttention: since(
    1,
    'scaled_dot_product_attention matmul transpose mul reshape softmax cast',
    importFlexAttention,
  ),
};
