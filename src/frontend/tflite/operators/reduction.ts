import type { Expr } from '../../../compiler/ir/expr.ts';
import { becomes, type LiteImporter, type LiteImporters } from '../lite-importer.ts';
import type { LiteNode } from '../lite-node.ts';

function reduced(node: LiteNode, x: Expr, op: string): Expr {
  const axes = node.axesInput(1, node.shape(x).length);
  const { keepDims } = node.options('reducer');
  return axes.length === 0 ? x : node.call(op, [x], { axes, keepdims: keepDims });
}

const reduce = (op: string): LiteImporter =>
  becomes(op, (node) => reduced(node, node.input(0), op));

/** Of bools, by numbers. */
const reduceBool = (op: string): LiteImporter =>
  becomes(`${op} cast`, (node) =>
    node.cast(reduced(node, node.cast(node.input(0), 'int32'), op), 'bool'),
  );

const argOf = (op: string, options: 'argMax' | 'argMin'): LiteImporter =>
  becomes(`${op} reshape cast`, (node) => {
    const { type } = node.options(options);
    const x = node.input(0);
    const shape = node.shape(x);
    const axis = node.axis(node.numberInput(1, 'axes') ?? 0, shape.length);
    const places = node.reshape(node.call(op, [x], { axis }), shape.toSpliced(axis, 1));
    return node.cast(places, type === 4 ? 'int64' : 'int32');
  });

function cumsum(node: LiteNode): Expr {
  const { exclusive, reverse } = node.options('cumsum');
  return node.one('CumSum', [node.input(0), node.longs(1)], {
    exclusive: Number(exclusive),
    reverse: Number(reverse),
  });
}

function topK(node: LiteNode): readonly (Expr | undefined)[] {
  const [values, places] = node.onnx('TopK', [node.input(0), node.longs(1)], {}, 2);
  return [values, places && node.cast(places, 'int32')];
}

export const REDUCTION_IMPORTERS: LiteImporters = {
  ARG_MAX: argOf('arg_max', 'argMax'),
  ARG_MIN: argOf('arg_min', 'argMin'),
  CUMSUM: becomes('cumulative', cumsum),
  MEAN: reduce('reduce_mean'),
  REDUCE_ALL: reduceBool('reduce_min'),
  REDUCE_ANY: reduceBool('reduce_max'),
  REDUCE_MAX: reduce('reduce_max'),
  REDUCE_MIN: reduce('reduce_min'),
  REDUCE_PROD: reduce('reduce_prod'),
  SUM: reduce('reduce_sum'),
  TOPK_V2: becomes('top_k gather_elements cast', topK),
};
