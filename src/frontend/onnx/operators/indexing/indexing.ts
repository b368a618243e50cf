import type { Expr } from '../../../../compiler/ir/expr.ts';
import { SymbolicTensor } from '../../../../compiler/values/symbolic-tensor.ts';
import { proveLess, proveLessEqual } from '../../../../core/dims/dim-algebra.ts';
import { type Dim, formatDim, MAX_DIMENSION } from '../../../../core/dims/dim.ts';
import { dtypeInfo } from '../../../../core/tensor/dtype.ts';
import { HostTensor } from '../../../../core/tensor/host-tensor.ts';
import { elementCount, normalizeAxis, type Shape } from '../../../../core/tensor/shape.ts';
import { alongAxis, fromBegin, type IndexRange, indicesInput } from '../../sizes/check-indices.ts';
import type { ImportNode } from '../../import-node.ts';
import { type OperatorImporters, since } from '../../operator-importer.ts';
import { importRange } from '../dynamic/selection.ts';
import { concatParts } from '../movement/joining.ts';
import { sliceAlong } from '../movement/slice-along.ts';

/**
 * Constants are gathered now, by known indices a few slices do, and the rest is a kernel's work.
 */
function importGather(node: ImportNode): Expr {
  const x = node.input(0);
  const shape = node.shape(x);
  const axis = normalizeAxis(node.attributes.int('axis', 0), shape.length, node.where);
  const range = alongAxis(node, shape[axis] ?? 0);
  const checked = indicesInput(node, 1, range);
  const indices = knownIndices(node, shape[axis] ?? 0);
  if (indices === undefined || indices.length > MAX_SLICES) {
    const isConstant = x.kind === 'constant' || node.shapeValue(x) !== undefined;
    const numbers = isConstant && indices !== undefined ? asNumbers(indices) : undefined;
    if (numbers !== undefined) return gatherNow(node, x, { axis, indices: numbers });
    return node.call('gather', [x, checked], { axis });
  }
  const numbers = asNumbers(indices);
  if (numbers !== undefined && (x.kind === 'constant' || node.shapeValue(x) !== undefined)) {
    return gatherNow(node, x, { axis, indices: numbers });
  }
  return gatherBySlices(node, x, { axis, indices });
}

/** The indices where they are constants or dimensions, none below zero if the axis has a number. */
function knownIndices(node: ImportNode, dim: Dim): readonly Dim[] | undefined {
  const input = node.input(1);
  if (input.kind !== 'constant' && node.shapeValue(input) === undefined) return undefined;
  return node.dimsInput(1, 'indices')?.map((index) => normalizeIndex(node, index, dim));
}

function asNumbers(dims: readonly Dim[]): number[] | undefined {
  const numbers = dims.filter((dim) => typeof dim === 'number');
  return numbers.length === dims.length ? numbers : undefined;
}

interface KnownGather<I> {
  readonly axis: number;
  readonly indices: readonly I[];
}

function gatheredShape(node: ImportNode, x: Expr, axis: number): Dim[] {
  const shape = node.shape(x);
  return [...shape.slice(0, axis), ...node.shape(node.input(1)), ...shape.slice(axis + 1)];
}

function gatherNow(node: ImportNode, x: Expr, { axis, indices }: KnownGather<number>): Expr {
  const result = node.numbers(gatheredShape(node, x, axis), 'the size of constants');
  const count = elementCount(result);
  const sizes = node.numbers(node.shape(x), 'sizes');
  if (count > MAX_GATHERED || elementCount(sizes) > MAX_GATHERED) {
    throw node.unsupported(`${count} gathered elements`, `at most ${MAX_GATHERED}`);
  }
  const value = node.shapeValue(x);
  const gather = (tensor: HostTensor) => gatherConstant(tensor, indices, { axis, result });
  if (value !== undefined) return node.shapeResult(gatherSymbols(value, gather));
  if (x.kind === 'constant') return node.constant(gather(x.value));
  throw new Error('internal: a computed tensor is no constant');
}

function gatherBySlices(node: ImportNode, x: Expr, { axis, indices }: KnownGather<Dim>): Expr {
  const result = gatheredShape(node, x, axis);
  if (indices.length === 0) return node.call('gather', [x, node.input(1)], { axis });
  const parts = indices.map((index) => {
    const end = index === -1 ? MAX_DIMENSION : node.dims.add(index, 1);
    return sliceAlong(node, x, { axis, start: index, end });
  });
  const [first] = parts;
  const joined = parts.length === 1 && first !== undefined ? first : concatParts(node, parts, axis);
  return node.reshape(joined, result);
}

const MAX_SLICES = 16;
const MAX_GATHERED = 2 ** 26;

/** An index of a symbolic axis stays as it is; one that is not there leaves a slice too short. */
function normalizeIndex(node: ImportNode, index: Dim, dim: Dim): Dim {
  if (typeof index !== 'number') {
    if (proveLessEqual(0, index)) return index;
    if (proveLess(index, 0)) return node.dims.add(dim, index);
    throw node.unsupported(
      `${formatDim(index)} as an index`,
      'an index that is known to be negative or not',
    );
  }
  if (typeof dim !== 'number') return index;
  if (index >= -dim && index < dim) return index < 0 ? index + dim : index;
  throw node.malformed(`index ${index}`, `one from ${-dim} to ${dim - 1}`);
}

function gatherSymbols(
  value: SymbolicTensor,
  gather: (tensor: HostTensor) => HostTensor,
): SymbolicTensor {
  const { shape, data } = gather(value.positions());
  const source: ArrayLike<number | bigint> = data;
  const elements = Array.from(source, (position) => value.elements[Number(position)] ?? '?');
  return new SymbolicTensor(value.dtype, shape, elements);
}

function gatherConstant(
  tensor: HostTensor,
  indices: readonly number[],
  { axis, result }: { axis: number; result: Shape },
): HostTensor {
  const { dtype, shape, data } = tensor;
  const outer = elementCount(shape.slice(0, axis));
  const inner = elementCount(shape.slice(axis + 1));
  const dim = shape[axis] ?? 0;
  const { byteLength } = dtypeInfo(dtype);
  const from = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  const gathered = HostTensor.zeros(dtype, result);
  const to = gathered.bytes;
  const run = inner * byteLength;
  let at = 0;
  for (let o = 0; o < outer; o++) {
    for (const index of indices) {
      const begin = (o * dim + index) * run;
      to.set(from.subarray(begin, begin + run), at);
      at += run;
    }
  }
  return gathered;
}

/** The size of an axis; 0 where there is none, which what follows refuses. */
export function axisSize(node: ImportNode, x: Expr, axis: number): Dim {
  return node.shape(x).at(axis) ?? 0;
}

/** Of tuples of indices, one for each axis behind the first `batchAxes`. */
function alongAxes(node: ImportNode, x: Expr, indices: Expr, batchAxes: number): IndexRange {
  const length = node.number(node.shape(indices).at(-1) ?? 0, 'the length of tuples of indices');
  const below = node.shape(x).slice(batchAxes, batchAxes + length);
  return { lower: below.map((size) => node.dims.sub(0, size)), below };
}

function importGatherElements(node: ImportNode): Expr {
  const x = node.input(0);
  const axis = node.attributes.int('axis', 0);
  const range = alongAxis(node, axisSize(node, x, axis));
  return node.call('gather_elements', [x, indicesInput(node, 1, range)], { axis });
}

export function importGatherND(node: ImportNode): Expr {
  const batch_dims = node.opset >= 12 ? node.attributes.int('batch_dims', 0) : 0;
  const x = node.input(0);
  const range = alongAxes(node, x, node.input(1), batch_dims);
  return node.call('gather_nd', [x, indicesInput(node, 1, range)], { batch_dims });
}

/** Indices and depth may be numbers of any dtype. */
function importOneHot(node: ImportNode): Expr {
  const given = node.input(0);
  const { dtype } = node.type(given);
  const isIndex = dtype === 'int32' || dtype === 'int64';
  const indices = isIndex ? given : node.call('cast', [given], { to: 'int64' });
  const depth = node.dimsInput(1, 'depths');
  if (depth?.length !== 1) throw node.malformed(`${depth?.length ?? 'no'} depths`, 'one');
  const axis = node.attributes.int('axis', -1);
  return node.call('one_hot', [indices, node.input(2)], { depth, axis });
}

function importReverseSequence(node: ImportNode): Expr {
  const x = node.input(0);
  const time_axis = node.attributes.int('time_axis', 0);
  // Lengths, of which the whole axis is one.
  const range = fromBegin(node.dims.add(axisSize(node, x, time_axis), 1));
  return node.call('reverse_sequence', [x, indicesInput(node, 1, range)], {
    batch_axis: node.attributes.int('batch_axis', 1),
    time_axis,
  });
}

function importTensorScatter(node: ImportNode): Expr {
  const cache = node.input(0);
  const mode = node.attributes.string('mode', 'linear');
  const axis = node.attributes.int('axis', -2);
  if (mode !== 'linear' && mode !== 'circular') {
    throw node.malformed(`mode ${mode}`, 'linear or circular');
  }
  const update = node.input(1);
  // Where an update begins that still fits; a circular one may begin anywhere.
  const [size, taken] = [axisSize(node, cache, axis), axisSize(node, update, axis)];
  const rest = mode === 'circular' ? size : node.dims.add(node.dims.sub(size, taken), 1);
  const begins =
    node.inputs[2] === undefined
      ? node.call('full', [], { shape: node.shape(cache).slice(0, 1), value: 0, dtype: 'int64' })
      : indicesInput(node, 2, fromBegin(rest));
  return node.call('tensor_scatter', [cache, update, begins], {
    axis,
    circular: mode === 'circular',
  });
}

export function importTrilu(node: ImportNode): Expr {
  const k = node.inputs[1];
  const diagonal = k === undefined ? node.scalar(0, 'int64') : node.reshape(k, []);
  return node.call('trilu', [node.input(0), diagonal], {
    upper: node.attributes.bool('upper', true),
  });
}

/** Values and indices. Those that need not be sorted are, too. */
function importTopK(node: ImportNode): readonly Expr[] {
  const x = node.input(0);
  const axis = normalizeAxis(node.attributes.int('axis', -1), node.shape(x).length, node.where);
  const given = node.opset < 10 ? node.attributes.int('k') : undefined;
  const k = given === undefined ? node.dimsInput(1, 'numbers of elements') : [given];
  if (k?.length !== 1) throw node.malformed(`${k?.length ?? 'no'} numbers of elements`, 'one');
  const largest = node.opset < 11 || node.attributes.bool('largest', true);
  if (node.opset >= 11) node.attributes.ignore('sorted');
  const indices = node.call('top_k', [x], { k, axis, largest });
  return [node.call('gather_elements', [x, indices], { axis }), indices];
}

/** Without a number of boxes there are none, without a least score all count. */
function importNonMaxSuppression(node: ImportNode): Expr {
  const limit = (index: number, otherwise: Expr) => {
    const given = node.inputs[index];
    return given === undefined ? otherwise : node.reshape(given, []);
  };
  return node.call(
    'non_max_suppression',
    [
      node.input(0),
      node.input(1),
      limit(2, node.scalar(0, 'int64')),
      limit(3, node.scalar(0)),
      limit(4, node.scalar(-Infinity)),
    ],
    { centered: node.attributes.bool('center_point_box') },
  );
}

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

export const INDEXING_IMPORTERS: OperatorImporters = {
  Gather: since(1, 'gather slice reshape', importGather),
  GatherElements: since(11, 'gather_elements', importGatherElements),
  GatherND: since(11, 'gather_nd', importGatherND),
  NonMaxSuppression: since(10, 'non_max_suppression reshape', importNonMaxSuppression),
  OneHot: since(9, 'one_hot cast', importOneHot),
  Range: since(11, 'range', importRange),
  ReverseSequence: since(10, 'reverse_sequence', importReverseSequence),
  Scatter: since(9, 'scatter_elements', importScatterElements),
  ScatterElements: since(11, 'scatter_elements', importScatterElements),
  ScatterND: since(11, 'scatter_nd', importScatterND),
  TensorScatter: since(24, 'tensor_scatter full', importTensorScatter),
  TopK: since(1, 'top_k gather_elements', importTopK),
  Trilu: since(14, 'trilu reshape', importTrilu),
};
