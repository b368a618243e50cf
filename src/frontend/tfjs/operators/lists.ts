import type { Expr } from '../../../compiler/ir/expr.ts';
import { elementType } from '../node-protos.ts';
import { becomes, type TensorflowNode, type TensorflowOperators } from '../tensorflow-node.ts';

const CODES = { float32: 1, int32: 6, bool: 9, float16: 10 } as const;

/**
 * A list without tensors, of the dtype that an attribute says. One of a known length, whose elements have one known shape, is
 * a tensor with a row for each.
 */
function emptyList(node: TensorflowNode, attribute: string, count?: Expr): Expr {
  const dtype = elementType(node.attributes.string(attribute, 'DT_FLOAT'));
  const sizes = node.attributes.ints('element_shape');
  if (count === undefined || sizes === undefined || sizes.some((size) => size < 0)) {
    return node.one('SequenceEmpty', [], { dtype: CODES[dtype] });
  }
  const rows = node.one('Concat', [node.asLongs(count), node.int64s(sizes)], { axis: 0 });
  return node.one('Expand', [node.cast(node.scalar(0), dtype), rows]);
}

function itemAt(node: TensorflowNode, list: Expr, index: Expr): Expr {
  if (node.isTensor(list)) return node.one('Gather', [list, index], { axis: 0 });
  return node.one('SequenceAt', [list, node.cast(index, 'int64')]);
}

/** A list with a tensor at a place; one that is no tensor itself was written up to there before. */
function written(node: TensorflowNode, list: Expr, [index, item]: readonly [Expr, Expr]): Expr {
  if (!node.isTensor(list)) {
    return node.one('SequenceInsert', [list, item, node.cast(index, 'int64')]);
  }
  const place = node.one('Reshape', [node.cast(index, 'int64'), node.int64s([1, 1])]);
  return node.one('ScatterND', [list, place, node.one('Unsqueeze', [item, node.int64s([0])])]);
}

const stacked = (node: TensorflowNode, list: Expr): Expr =>
  node.isTensor(list) ? list : node.one('ConcatFromSequence', [list], { axis: 0, new_axis: 1 });

function length(node: TensorflowNode, list: Expr): Expr {
  if (!node.isTensor(list)) return node.cast(node.one('SequenceLength', [list]), 'int32');
  return itemAt(node, node.cast(node.one('Shape', [list]), 'int32'), node.scalar(0, 'int32'));
}

/** The rows of a tensor, each at its place in a list. */
function scattered(node: TensorflowNode): Expr {
  const [list, x] = [node.input(3), node.input(2)];
  const indices = node.cast(node.input(1), 'int64');
  if (node.isTensor(list)) {
    const tuples = node.one('Unsqueeze', [indices, node.int64s([1])]);
    return node.one('ScatterND', [list, tuples, x]);
  }
  // All places of a list without tensors are written: the tensor in another order is the list.
  const [count = 1] = node.shape(indices);
  const places = node.one('Range', [
    node.scalar(0, 'int64'),
    node.one('Squeeze', [node.asLongs(node.sizes([count])), node.int64s([0])]),
    node.scalar(1, 'int64'),
  ]);
  const rows = node.one('ScatterElements', [places, indices, places], { axis: 0 });
  return node.one('Gather', [x, rows], { axis: 0 });
}

const ignore = (node: TensorflowNode, ...names: readonly string[]): void =>
  node.attributes.ignore('element_shape', 'element_shape_except0', ...names);

/** An importer of an operator on lists, whose elements have shapes of their own. */
const list = (makes: string, importNode: (node: TensorflowNode) => Expr | readonly Expr[]) =>
  becomes(makes, (node) => {
    const results = importNode(node);
    ignore(node, 'element_dtype', 'dtype');
    return results;
  });

export const LISTS: TensorflowOperators = {
  TensorListReserve: list('broadcast_to', (node) =>
    emptyList(node, 'element_dtype', node.input(1)),
  ),
  EmptyTensorList: list('', (node) => emptyList(node, 'element_dtype')),
  TensorListFromTensor: list('', (node) => node.input(0)),
  TensorListGetItem: list('gather', (node) => itemAt(node, node.input(0), node.input(1))),
  TensorListSetItem: list('scatter_nd reshape', (node) =>
    written(node, node.input(0), [node.input(1), node.input(2)]),
  ),
  TensorListPushBack: list('', (node) =>
    node.one('SequenceInsert', [node.input(0), node.input(1)]),
  ),
  TensorListStack: list('concat reshape', (node) => stacked(node, node.input(0))),
  TensorListLength: list('', (node) => length(node, node.input(0))),
  TensorArrayV3: list('broadcast_to', (node) => [
    node.scalar(0, 'int32'),
    emptyList(node, 'dtype', node.input(0)),
  ]),
  TensorArrayWriteV3: list('scatter_nd reshape', (node) =>
    written(node, node.input(3), [node.input(1), node.input(2)]),
  ),
  TensorArrayReadV3: list('gather', (node) => itemAt(node, node.input(2), node.input(1))),
  TensorArrayScatterV3: list('gather scatter_elements scatter_nd reshape', scattered),
  TensorArrayGatherV3: list('concat gather', (node) =>
    node.one('Gather', [stacked(node, node.input(2)), node.input(1)], { axis: 0 }),
  ),
  TensorArraySizeV3: list('', (node) => length(node, node.input(1))),
};
