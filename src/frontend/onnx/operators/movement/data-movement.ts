import type { Expr } from '../../../../compiler/ir/expr.ts';
import { SymbolicTensor } from '../../../../compiler/values/symbolic-tensor.ts';
import { countElements } from '../../../../core/dims/dim-context.ts';
import { concreteShape, type Dim, formatDim, MAX_DIMENSION } from '../../../../core/dims/dim.ts';
import { isBigInt } from '../../../../core/tensor/dtype.ts';
import { HostTensor } from '../../../../core/tensor/host-tensor.ts';
import type { TensorType } from '../../../../core/contracts/primitive-function.ts';
import { elementCount, formatShape, normalizeAxis } from '../../../../core/tensor/shape.ts';
import { isSmallFloat } from '../../../../core/tensor/small-floats.ts';
import type { ImportNode } from '../../import-node.ts';
import { type OperatorImporters, since } from '../../operator-importer.ts';
import { dtypeFromOnnx } from '../../protobuf/read-tensor.ts';
import { proveLess, proveLessEqual } from '../../../../core/dims/dim-algebra.ts';
import { wholeSlice } from './slice-along.ts';

function format(shape: readonly Dim[]): string {
  return formatShape(shape.map(formatDim));
}

function importReshape(node: ImportNode): Expr {
  const x = node.input(0);
  const from = node.shape(x);
  if (node.opset >= 5 && node.isComputed(1)) {
    const allowzero = node.opset >= 14 && node.attributes.bool('allowzero');
    const options = { what: 'shape', dims: from, allowzero };
    return node.reshape(x, node.readSizes('reshape_sizes', node.input(1), options));
  }
  const wanted = node.opset < 5 ? node.attributes.ints('shape') : node.dimsInput(1, 'shapes');
  if (wanted === undefined) throw node.malformed('no shape', 'one');
  const allowZero = node.opset >= 14 && node.attributes.bool('allowzero');
  const shape = wanted.map((dim, axis) => (dim === 0 && !allowZero ? (from[axis] ?? 0) : dim));
  const free = shape.indexOf(-1);
  if (free >= 0) {
    const { dims } = node;
    const count = countElements(from, dims);
    const others = shape.filter((_, axis) => axis !== free);
    const rest = countElements(others, dims);
    // An inexact quotient of symbols is left to the check of the reshape.
    if (typeof count === 'number' && typeof rest === 'number' && rest > 0 && count % rest > 0) {
      throw node.malformed(`shape ${format(wanted)}`, `one that ${format(from)} fits`);
    }
    shape[free] = rest === 0 ? 0 : dims.floordiv(count, rest);
  }
  return node.reshape(x, shape);
}

function importFlatten(node: ImportNode): Expr {
  const x = node.input(0);
  const shape = node.shape(x);
  const given = node.attributes.int('axis', 1);
  const axis = given < 0 ? given + shape.length : given;
  return node.reshape(x, [
    countElements(shape.slice(0, axis), node.dims),
    countElements(shape.slice(axis), node.dims),
  ]);
}

function axesOf(node: ImportNode): readonly number[] | undefined {
  return node.opset < 13 ? node.attributes.ints('axes') : node.intsInput(1, 'axes');
}

function importSqueeze(node: ImportNode): Expr {
  const x = node.input(0);
  const shape = node.shape(x);
  if (node.opset >= 13 && node.isComputed(1)) {
    const options = { what: 'axes', dims: shape };
    return node.reshape(x, node.readSizes('squeeze_sizes', node.input(1), options));
  }
  const given = axesOf(node)?.map((axis) => normalizeAxis(axis, shape.length, node.where));
  const axes = given ?? [...shape.keys()].filter((axis) => shape[axis] === 1);
  // An axis whose size is a symbol is checked by the reshape.
  const wide = axes.find((axis) => typeof shape[axis] === 'number' && shape[axis] !== 1);
  if (wide !== undefined) {
    throw node.malformed(`axis ${wide} of ${format(shape)}`, 'an axis of size 1');
  }
  return node.reshape(
    x,
    shape.filter((_, axis) => !axes.includes(axis)),
  );
}

function importUnsqueeze(node: ImportNode): Expr {
  const x = node.input(0);
  if (node.opset >= 13 && node.isComputed(1)) {
    const options = { what: 'axes', dims: node.shape(x) };
    return node.reshape(x, node.readSizes('unsqueeze_sizes', node.input(1), options));
  }
  const axes = axesOf(node);
  if (axes === undefined) throw node.malformed('no axes', 'some');
  const from = node.shape(x);
  const rank = from.length + axes.length;
  const added = new Set(axes.map((axis) => normalizeAxis(axis, rank, node.where)));
  if (added.size !== axes.length) throw node.malformed(`axes ${axes.join(', ')}`, 'each axis once');
  let next = 0;
  const shape = Array.from({ length: rank }, (_, axis) =>
    added.has(axis) ? 1 : (from[next++] ?? 1),
  );
  return node.reshape(x, shape);
}

function importTranspose(node: ImportNode): Expr {
  const x = node.input(0);
  const reversed = [...node.shape(x).keys()].reverse();
  return node.call('transpose', [x], { perm: node.attributes.ints('perm') ?? reversed });
}

function importExpand(node: ImportNode): Expr {
  const x = node.input(0);
  if (node.isComputed(1)) {
    const options = { what: 'shape', dims: node.shape(x) };
    const shape = node.readSizes('broadcast_sizes', node.input(1), options);
    return node.call('broadcast_to', [x], { shape });
  }
  const wanted = node.dimsInput(1, 'shapes');
  if (wanted === undefined) throw node.malformed('no shape', 'one');
  const from = node.shape(x);
  const [repeated = from, given = wanted] = node.broadcastRepeats([from, wanted]);
  const rank = Math.max(from.length, given.length);
  const shape = Array.from({ length: rank }, (_, axis) => {
    const size = given.at(axis - rank) ?? 1;
    return size === 1 ? (repeated.at(axis - rank) ?? 1) : size;
  });
  return node.call('broadcast_to', [x], { shape });
}

function importShape(node: ImportNode): Expr {
  const shape = node.shape(node.input(0));
  const start = node.opset >= 15 ? node.attributes.int('start', 0) : 0;
  const end = node.opset >= 15 ? node.attributes.int('end') : undefined;
  const dims = shape.slice(start, end);
  return node.shapeResult(new SymbolicTensor('int64', [dims.length], dims));
}

function importSize(node: ImportNode): Expr {
  const count = countElements(node.shape(node.input(0)), node.dims);
  return node.shapeResult(new SymbolicTensor('int64', [], [count]));
}

function importConstant(node: ImportNode): Expr {
  const { attributes } = node;
  const tensor = attributes.tensor('value');
  if (tensor !== undefined) return node.constant(tensor);
  const sparse = attributes.sparseTensor('sparse_value');
  if (sparse !== undefined) return node.constant(sparse);
  const float = attributes.float('value_float');
  if (float !== undefined) return node.scalar(float);
  const floats = attributes.floats('value_floats');
  if (floats !== undefined) {
    return node.constant(HostTensor.from('float32', [floats.length], floats));
  }
  const ints = attributes.exactInts('value_int') ?? attributes.exactInts('value_ints');
  if (ints !== undefined) return node.constant(ints);
  throw node.unsupported('a constant of another kind', 'a tensor of numbers');
}

function importConstantOfShape(node: ImportNode): Expr {
  const dims = node.dimsInput(0, 'shapes');
  if (dims === undefined) throw node.malformed('no shape', 'one');
  const value = node.attributes.tensor('value') ?? HostTensor.zeros('float32', [1]);
  if (value.elementCount !== 1) {
    throw node.malformed(`a value of ${value.elementCount} elements`, 'one element');
  }
  const shape = concreteShape(dims);
  if (shape === undefined) {
    const { dtype } = value;
    const number = Number(value.elements[0] ?? 0);
    const isExact = Number.isFinite(number) && (Math.abs(number) <= 2 ** 31 || !isBigInt(dtype));
    if (isExact && !isSmallFloat(dtype)) {
      return node.call('full', [], { shape: dims, value: number, dtype });
    }
    const scalar = node.constant(HostTensor.splat(dtype, [], value.elements[0] ?? 0));
    return node.call('broadcast_to', [scalar], { shape: dims });
  }
  if (shape.some((dim) => dim < 0) || !Number.isSafeInteger(elementCount(shape))) {
    throw node.malformed(`shape ${formatShape(shape)}`, 'dimensions from 0 with a safe product');
  }
  return node.constant(HostTensor.splat(value.dtype, shape, value.elements[0] ?? 0));
}

function importDepthToSpace(node: ImportNode): Expr {
  const x = node.input(0);
  const [n = 1, channels = 1, h = 1, w = 1] = node.shape(x);
  const block = node.attributes.int('blocksize', 1);
  const isColumnFirst = node.attributes.string('mode', 'DCR') === 'DCR';
  const depth = node.dims.floordiv(channels, block * block);
  const split = isColumnFirst ? [n, block, block, depth, h, w] : [n, depth, block, block, h, w];
  const perm = isColumnFirst ? [0, 3, 4, 1, 5, 2] : [0, 1, 4, 2, 5, 3];
  const moved = node.call('transpose', [node.reshape(x, split)], { perm });
  return node.reshape(moved, [n, depth, node.dims.mul(h, block), node.dims.mul(w, block)]);
}

function importSpaceToDepth(node: ImportNode): Expr {
  const x = node.input(0);
  const [n = 1, c = 1, height = 1, width = 1] = node.shape(x);
  const block = node.attributes.int('blocksize', 1);
  const [h, w] = [node.dims.floordiv(height, block), node.dims.floordiv(width, block)];
  const split = node.reshape(x, [n, c, h, block, w, block]);
  const moved = node.call('transpose', [split], { perm: [0, 3, 5, 1, 2, 4] });
  return node.reshape(moved, [n, node.dims.mul(c, block * block), h, w]);
}

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

export const DATA_MOVEMENT_IMPORTERS: OperatorImporters = {
  Col2Im: since(18, 'conv_transpose reshape full trilu', importCol2Im),
  Constant: since(1, '', importConstant),
  ConstantOfShape: since(9, 'full', importConstantOfShape),
  DepthToSpace: since(1, 'transpose reshape', importDepthToSpace),
  Expand: since(8, 'broadcast_to', importExpand),
  EyeLike: since(9, 'full trilu', importEyeLike),
  Flatten: since(1, 'reshape', importFlatten),
  Identity: since(1, '', (node) => node.input(0)),
  Reshape: since(1, 'reshape', importReshape),
  Shape: since(1, 'dims_tensor', importShape),
  Size: since(1, 'dims_tensor reshape', importSize),
  Slice: since(1, 'slice gather', importSlice),
  SpaceToDepth: since(1, 'transpose reshape', importSpaceToDepth),
  Squeeze: since(1, 'reshape', importSqueeze),
  Transpose: since(1, 'transpose', importTranspose),
  Unsqueeze: since(1, 'reshape', importUnsqueeze),
};

/** Slice of any version: a view of the bounds where they are known, else a gather along each axis. */
function importSlice(node: ImportNode): Expr {
  const isAttribute = node.opset < 10;
  if (!isAttribute && [1, 2, 3, 4].some((index) => node.isComputed(index))) {
    return sliceByIndices(node);
  }
  const x = node.input(0);
  const shape = node.shape(x);
  const starts = isAttribute ? node.attributes.ints('starts') : node.dimsInput(1, 'starts');
  const ends = isAttribute ? node.attributes.ints('ends') : node.dimsInput(2, 'ends');
  if (starts === undefined || ends === undefined) {
    throw node.malformed('no starts or ends', 'both');
  }
  const given = isAttribute ? node.attributes.ints('axes') : node.intsInput(3, 'axes');
  const steps = isAttribute ? undefined : node.intsInput(4, 'steps');
  const axes = (given ?? [...starts.keys()]).map((axis) =>
    normalizeAxis(axis, shape.length, node.where),
  );
  const all = wholeSlice(shape);
  for (const [i, axis] of axes.entries()) {
    const dim = shape[axis] ?? 0;
    const start = slicePosition(node, starts[i] ?? 0, dim);
    const end = slicePosition(node, ends[i] ?? MAX_DIMENSION, dim);
    if (start === undefined || end === undefined) return sliceByIndices(node);
    all.starts[axis] = start;
    all.ends[axis] = end;
    all.steps[axis] = steps?.[i] ?? 1;
  }
  return node.call('slice', [x], { ...all });
}

/**
 * ONNX writes "from the first" and "to the last" as the extremes of int64. Undefined for what may be
 * negative or not.
 */
function slicePosition(node: ImportNode, position: Dim, dim: Dim): Dim | undefined {
  if (typeof position === 'number') {
    const size = typeof dim === 'number' ? dim : MAX_DIMENSION;
    return Math.min(Math.max(position, -size - 1), size);
  }
  if (proveLessEqual(0, position)) return position;
  return proveLess(position, 0) ? node.dims.add(dim, position) : undefined;
}

/** Bounds that only the running program knows say which positions of each axis are taken. */
function sliceByIndices(node: ImportNode): Expr {
  const x = node.input(0);
  const dims = node.shape(x);
  const [starts, ends] = [1, 2].map((index) => node.tensor(node.input(index)));
  if (starts === undefined || ends === undefined) throw node.malformed('no bounds', 'some');
  const count = node.number(node.shape(starts)[0] ?? 1, 'the number of starts');
  const given = node.inputs[3] ?? node.int64s(Array.from({ length: count }, (_, i) => i));
  const steps = node.inputs[4] ?? node.int64s(new Array<number>(count).fill(1));
  const bounds = [starts, ends, node.tensor(given), node.tensor(steps)];
  const axes: readonly number[] =
    given.kind === 'constant'
      ? Array.from(given.value.data, (axis: number | bigint) =>
          normalizeAxis(Number(axis), dims.length, node.where),
        )
      : [...dims.keys()];
  return axes.reduce<Expr>((part, axis) => {
    const indices = node.call('slice_indices', bounds, { axis, dims, where: node.where });
    return node.call('gather', [part, indices], { axis });
  }, x);
}
