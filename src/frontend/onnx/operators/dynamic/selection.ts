import { type OperatorImporters, since } from '../../operator-importer.ts';
import type { Expr } from '../../../../compiler/ir/expr.ts';
import { countElements } from '../../../../core/dims/dim-context.ts';
import type { Dim } from '../../../../core/dims/dim.ts';
import { normalizeAxis } from '../../../../core/tensor/shape.ts';
import type { ImportNode } from '../../import-node.ts';
import { CORE_OPERATORS } from '../../../../ops/tables/core-operators.ts';
import { evaluateCall } from '../../../../compiler/values/evaluate-call.ts';
import { SymbolicTensor } from '../../../../compiler/values/symbolic-tensor.ts';
import { dtypeInfo } from '../../../../core/tensor/dtype.ts';
import type { HostTensor } from '../../../../core/tensor/host-tensor.ts';

const MAX_RANGE = 2 ** 20;

/** Range of constants, of dimensions, or of numbers that only the running program knows. */
export function importRange(node: ImportNode): Expr {
  const bounds = [0, 1, 2].map((index) => node.input(index));
  const constants = bounds.flatMap((bound) => (bound.kind === 'constant' ? [bound.value] : []));
  if (constants.length === 3) return constantRange(node, constants);
  const isSymbolic = [0, 1, 2].every((index) => !node.isComputed(index));
  const symbolic = isSymbolic ? symbolicRange(node) : undefined;
  return symbolic ?? node.call('range', bounds, { where: node.where });
}

function constantRange(node: ImportNode, bounds: readonly HostTensor[]): Expr {
  const [start, end, step] = [0, 1, 2].map((index) => node.numberInput(index, 'bounds'));
  if (start === undefined || end === undefined || step === undefined || step === 0) {
    throw node.malformed('a missing bound or delta 0', 'start, limit and another delta');
  }
  const count = Math.max(0, Math.ceil((end - start) / step));
  if (Number.isNaN(count)) {
    throw node.malformed(`a range from ${start} to ${end} by ${step}`, 'bounds that are numbers');
  }
  if (count > MAX_RANGE) throw node.unsupported(`${count} elements`, `at most ${MAX_RANGE}`);
  return node.constant(
    evaluateCall(CORE_OPERATORS.require('range'), bounds, { where: node.where }),
  );
}

/** A range between dimensions; undefined for floats and for a step that is one. */
function symbolicRange(node: ImportNode): Expr | undefined {
  const { dtype } = node.type(node.input(0));
  if (dtypeInfo(dtype).category !== 'int') return undefined;
  const [start = 0, end = 0, step = 1] = [0, 1, 2].map((i) => node.dimsInput(i, 'bounds')?.[0]);
  if (typeof step !== 'number') return undefined;
  if (step === 0) throw node.malformed('delta 0', 'another delta');
  const { dims } = node;
  const span = step > 0 ? dims.sub(end, start) : dims.sub(start, end);
  const size = Math.abs(step);
  const count = dims.max(dims.floordiv(dims.add(span, size - 1), size), 0);
  if (typeof count !== 'number' || count > MAX_RANGE)
    return longRange(node, { start, count, step });
  const elements = Array.from({ length: count }, (_, i) => dims.add(start, i * step));
  return node.shapeResult(new SymbolicTensor(dtype, [elements.length], elements));
}

interface LongRange {
  readonly start: Dim;
  readonly count: Dim;
  readonly step: number;
}

function longRange(node: ImportNode, { start, count, step }: LongRange): Expr {
  const range = node.call('arange', [], { start: [start], size: [count], step });
  const { dtype } = node.type(node.input(0));
  return dtype === 'int64' ? range : node.call('cast', [range], { to: dtype });
}

function importNonZero(node: ImportNode): Expr {
  return node.call('nonzero', [node.input(0)]);
}

/** The tensor and an axis of it: the given one, or all elements in a row. */
function alongAxis(node: ImportNode): { readonly x: Expr; readonly axis: number } {
  const x = node.input(0);
  const shape = node.shape(x);
  const axis = node.attributes.int('axis');
  if (axis !== undefined) return { x, axis: normalizeAxis(axis, shape.length, node.where) };
  return { x: node.reshape(x, [countElements(shape, node.dims)]), axis: 0 };
}

/** Elements that a condition chooses: a gather by where it holds. It may be shorter than the axis. */
function importCompress(node: ImportNode): Expr {
  const { x, axis } = alongAxis(node);
  const positions = node.call('nonzero', [node.input(1)]);
  const [, count = '?'] = node.shape(positions);
  return node.call('gather', [x, node.reshape(positions, [count])], { axis });
}

/** Values, indices, inverse and counts; those that nothing reads are not computed. */
function importUnique(node: ImportNode): readonly Expr[] {
  const { x, axis } = alongAxis(node);
  const attributes = { axis, sorted: node.attributes.bool('sorted', true) };
  const indices = node.call('unique_indices', [x], attributes);
  const outputs = [
    () => node.call('gather', [x, indices], { axis }),
    () => indices,
    () => node.call('unique_inverse', [x], attributes),
    () => sameSize(node, indices, node.call('unique_counts', [x], attributes)),
  ];
  return outputs.slice(0, node.outputCount).map((output) => output());
}

/** A vector whose length is certainly that of another one, under the other's name. */
function sameSize(node: ImportNode, vector: Expr, other: Expr): Expr {
  const shape: readonly Dim[] = node.shape(vector);
  return node.reshape(other, shape);
}

export const SELECTION_IMPORTERS: OperatorImporters = {
  Compress: since(9, 'gather nonzero reshape', importCompress),
  NonZero: since(9, 'nonzero', importNonZero),
  Unique: since(11, 'unique_indices reshape unique_counts gather unique_inverse', importUnique),
};
