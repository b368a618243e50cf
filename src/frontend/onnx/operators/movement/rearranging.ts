import { type OperatorImporters, since } from '../../operator-importer.ts';
import type { Expr } from '../../../../compiler/ir/expr.ts';
import { type Dim, formatDim, MAX_DIMENSION } from '../../../../core/dim.ts';
import type { TensorType } from '../../../../core/primitive-function.ts';
import type { ImportNode } from '../../import-node.ts';
import { dtypeFromOnnx } from '../../protobuf/read-tensor.ts';

/** Ones on a diagonal of a matrix: what two triangles of ones have in common. */
function importEyeLike(node: ImportNode): Expr {
  const { dtype: own, shape } = node.type(node.input(0));
  if (shape.length !== 2) throw node.malformed(`an input of rank ${shape.length}`, 'a matrix');
  const code = node.attributes.int('dtype');
  const dtype = code === undefined ? own : dtypeFromOnnx(code, node.where);
  return eye(node, { dtype, shape }, node.attributes.int('k', 0));
}

function eye(node: ImportNode, { dtype, shape }: TensorType, k: number): Expr {
  const diagonal = node.scalar(k, 'int64');
  const ones = node.call('full', [], { shape, value: 1, dtype });
  const upper = node.call('trilu', [ones, diagonal], { upper: true });
  return node.call('trilu', [upper, diagonal], { upper: false });
}

/** The kernel of a block has the square of so many elements. */
const MAX_BLOCK = 4096;

/**
 * Adds blocks up where they overlap in an image: a transposed convolution of each channel, whose
 * kernel puts the element k of a block at its place k.
 */
function importCol2Im(node: ImportNode): Expr {
  const { attributes, dims } = node;
  const columns = node.input(0);
  const size = node.dimsInput(1, 'image shapes') ?? [];
  const block = node.dimsInput(2, 'block shapes') ?? [];
  const rank = size.length;
  if (rank === 0 || block.length !== rank) {
    throw node.malformed(`sizes of ${rank} and ${block.length} axes`, 'as many, one or more');
  }
  const strides = attributes.ints('strides') ?? new Array<number>(rank).fill(1);
  const dilations = attributes.ints('dilations') ?? new Array<number>(rank).fill(1);
  const pads = attributes.ints('pads') ?? new Array<number>(2 * rank).fill(0);
  const requireFrom = integersFrom(node, rank);
  requireFrom(1, { 'image sizes': size, 'block sizes': block, strides, dilations });
  requireFrom(0, { 'leading pads': pads.slice(0, rank), 'trailing pads': pads.slice(rank) });
  const counts = size.map((dim, axis): Dim => {
    const extent = dims.mul(dims.sub(block[axis] ?? 1, 1), dilations[axis] ?? 1);
    const padded = dims.add(dim, (pads[axis] ?? 0) + (pads[axis + rank] ?? 0));
    return dims.add(dims.floordiv(dims.sub(dims.sub(padded, extent), 1), strides[axis] ?? 1), 1);
  });
  const { dtype, shape } = node.type(columns);
  const [batch = 1, rows = 0] = shape;
  const elements = block.reduce((count, extent) => dims.mul(count, extent), 1);
  if (typeof elements === 'number' && elements > MAX_BLOCK) {
    throw node.unsupported(`blocks of ${elements} elements`, `at most ${MAX_BLOCK}`);
  }
  const channels = dims.floordiv(rows, elements);
  const kernel = eye(node, { dtype, shape: [elements, elements] }, 0);
  const images = node.call(
    'conv_transpose',
    [
      node.reshape(columns, [dims.mul(batch, channels), elements, ...counts]),
      node.reshape(kernel, [elements, 1, ...block]),
    ],
    { size, strides, pads: pads.slice(0, rank), dilations, groups: 1 },
  );
  return node.reshape(images, [batch, channels, ...size]);
}

/** Checks lists of one integer for each axis; names that only the running program knows pass. */
function integersFrom(node: ImportNode, rank: number) {
  return (least: number, lists: Readonly<Record<string, readonly Dim[]>>): void => {
    for (const [what, list] of Object.entries(lists)) {
      const isBad = (dim: Dim): boolean =>
        typeof dim === 'number' && (dim < least || dim > MAX_DIMENSION);
      if (list.length === rank && !list.some(isBad)) continue;
      const got = `${what} [${list.map(formatDim).join(', ')}]`;
      throw node.malformed(got, `${rank} integers from ${least} to ${MAX_DIMENSION}`);
    }
  };
}

export const REARRANGING_IMPORTERS: OperatorImporters = {
  Col2Im: since(18, 'conv_transpose reshape full trilu', importCol2Im),
  EyeLike: since(9, 'full trilu', importEyeLike),
};
