import { callFunction, construct, global } from '../../../../compiler/ir/build.ts';
import * as ir from '../../../../compiler/ir/build.ts';
import type { Expr } from '../../../../compiler/ir/expr.ts';
import { tensorType, type Type } from '../../../../compiler/ir/type.ts';
import { type Dim, formatDim } from '../../../../core/dims/dim.ts';
import type { DType } from '../../../../core/tensor/dtype.ts';
import { normalizeAxis } from '../../../../core/tensor/shape.ts';
import {
  closedType,
  joinTypes,
  type KnownSequence,
  listType,
  OPEN_TYPE,
  widened,
} from '../../composite-values.ts';
import { declaredDataType } from '../../model/declared-type.ts';
import { hostInteger } from '../../sizes/host-integer.ts';
import type { ImportNode } from '../../import-node.ts';
import { type OperatorImporters, since } from '../../operator-importer.ts';
import { dtypeFromOnnx } from '../../protobuf/read-tensor.ts';
import { stackFunction } from '../../functions/stack-function.ts';
import { concatParts } from '../movement/joining.ts';
import { cutAlong } from '../movement/slice-along.ts';
import {
  bindData,
  lengthOf,
  lengthTensor,
  placeIn,
  runningData,
  splitRunning,
  takenOut,
  tensorOf,
  withAxis,
  wrongKind,
} from './running-sequence.ts';
import { importSequenceMap } from './sequence-map.ts';

/** The sequence at an input, where the importer knows its elements. Throws FormatError for another value. */
function knownSequence(node: ImportNode, index: number): KnownSequence | undefined {
  const composite = node.composite(node.input(index));
  if (composite?.kind === 'optional') throw wrongKind(node, 'List');
  return composite;
}

function sequenceOf(node: ImportNode, elements: readonly Expr[], element: Type = OPEN_TYPE): Expr {
  return node.compositeResult({ kind: 'sequence', elements, element });
}

function importConstruct(node: ImportNode): Expr {
  const elements = node.allInputs();
  for (const element of elements) requireDType(node, element, node.type(node.input(0)).dtype);
  return sequenceOf(node, elements);
}

function requireDType(node: ImportNode, element: Expr, dtype: DType): void {
  const own = node.type(element).dtype;
  if (own === dtype) return;
  throw node.malformed(`a tensor of ${own} in a sequence of ${dtype}`, 'tensors of one dtype');
}

function importEmpty(node: ImportNode): Expr {
  // The dtype says nothing that tensors in it do not say.
  dtypeFromOnnx(node.attributes.int('dtype', 1), node.where);
  return sequenceOf(node, []);
}

/** A position: a number or what only the running program knows; undefined for none. */
function positionInput(node: ImportNode, index: number): Dim | undefined {
  const input = node.inputs[index];
  if (input === undefined) return undefined;
  const [position, ...others] = node.isComputed(index)
    ? node.readSigned('signed_sizes', input, { what: 'position' })
    : (node.dimsInput(index, 'position') ?? []);
  if (position !== undefined && others.length === 0) return position;
  throw node.malformed('a list of positions', 'one position');
}

/** A position from 0 up. Throws FormatError for one outside. */
function placeOf(node: ImportNode, position: number, { length, most }: Places): number {
  const place = position < 0 ? position + length : position;
  if (place >= 0 && place <= most) return place;
  throw node.malformed(`position ${position} of a sequence of ${length}`, `-${length} to ${most}`);
}

interface Places {
  readonly length: number;
  /** The last place that is allowed. */
  readonly most: number;
}

function importInsert(node: ImportNode): Expr {
  const tensor = node.input(1);
  const known = knownSequence(node, 0);
  const position = positionInput(node, 2);
  if (known !== undefined && (position === undefined || typeof position === 'number')) {
    const { elements, element } = known;
    const [first] = elements;
    if (first !== undefined) requireDType(node, tensor, node.type(first).dtype);
    const { length } = elements;
    const place = placeOf(node, position ?? length, { length, most: length });
    return sequenceOf(node, elements.toSpliced(place, 0, tensor), element);
  }
  const given = runningData(node, node.input(0), 'List');
  if (given.element.kind === 'tensor') requireDType(node, tensor, given.element.dtype);
  const element = closedType(joinTypes(given.element, node.dataType(tensor)));
  const type = listType(element);
  const list = widened(given.value, listType(given.element), type);
  const count = lengthOf(node, given);
  const place = position === undefined ? count : placeIn(node, position, { count, mayBeEnd: true });
  const operands = [list, node.data(tensor, element), place, construct('Nil', [])];
  return bindData(node, callFunction(global('sequence.insert'), operands, node.span), type);
}

function importErase(node: ImportNode): Expr {
  const known = knownSequence(node, 0);
  const position = positionInput(node, 1) ?? -1;
  if (known !== undefined && typeof position === 'number') {
    const { elements, element } = known;
    const { length } = elements;
    const place = placeOf(node, position, { length, most: length - 1 });
    return sequenceOf(node, elements.toSpliced(place, 1), element);
  }
  const given = runningData(node, node.input(0), 'List');
  const place = placeIn(node, position, { count: lengthOf(node, given) });
  const operands = [given.value, place, construct('Nil', [])];
  const erased = callFunction(global('sequence.erase'), operands, node.span);
  return bindData(node, erased, listType(given.element));
}

function importAt(node: ImportNode): Expr {
  const known = knownSequence(node, 0);
  const position = positionInput(node, 1);
  if (position === undefined) throw node.malformed('no position', 'one');
  if (known !== undefined && typeof position === 'number') {
    const { length } = known.elements;
    const element = known.elements[placeOf(node, position, { length, most: length - 1 })];
    if (element !== undefined) return element;
  }
  const given = runningData(node, node.input(0), 'List');
  const place = placeIn(node, position, { count: lengthOf(node, given) });
  const taken = callFunction(global('nth'), [given.value, place], node.span);
  return takenOut(node, taken, { type: given.element });
}

function importLength(node: ImportNode): Expr {
  const known = knownSequence(node, 0);
  if (known !== undefined) return node.scalar(known.elements.length, 'int64');
  const given = runningData(node, node.input(0), 'List');
  return lengthTensor(node, node.sizeOf(lengthOf(node, given)));
}

function importConcat(node: ImportNode): Expr {
  const isNewAxis = node.attributes.bool('new_axis');
  const axis = node.attributes.int('axis');
  if (axis === undefined) throw node.malformed('no axis', 'one');
  const known = knownSequence(node, 0);
  if (known !== undefined) {
    const [first] = known.elements;
    if (first === undefined) throw node.malformed('an empty sequence', 'one tensor or more');
    const rank = node.shape(first).length + (isNewAxis ? 1 : 0);
    const at = normalizeAxis(axis, rank, node.where);
    const parts = known.elements.map((element) =>
      isNewAxis ? node.reshape(element, node.shape(element).toSpliced(at, 0, 1)) : element,
    );
    return concatParts(node, parts, at);
  }
  const given = runningData(node, node.input(0), 'List');
  const { dtype, shape } = tensorOf(node, given);
  const at = normalizeAxis(axis, shape.length + (isNewAxis ? 1 : 0), node.where);
  const list = isNewAxis ? withAxis(node, given, at) : given;
  const one = tensorOf(node, list);
  const whole = tensorType({ dtype, shape: one.shape.with(at, '?') });
  placeIn(node, 0, { count: lengthOf(node, given) });
  const empty = whole.shape.map((dim) => (dim === '?' ? 0 : dim));
  const none = node.call('full', [], { shape: empty, value: 0, dtype });
  const name = stackFunction(node.context, whole, at);
  const joined = callFunction(global(name), [list.value, none], node.span);
  return node.block.name(joined, whole, node.span);
}

function importSplit(node: ImportNode): Expr {
  const x = node.input(0);
  const shape = node.shape(x);
  const axis = normalizeAxis(node.attributes.int('axis', 0), shape.length, node.where);
  const given = node.inputs[1];
  const keepsAxis = node.attributes.bool('keepdims', true) || given !== undefined;
  const whole = shape[axis] ?? 0;
  const parts = (sizes: readonly Dim[]): Expr => {
    const cut = cutAlong(node, x, { axis, sizes });
    const rest = shape.toSpliced(axis, 1);
    return sequenceOf(node, keepsAxis ? cut : cut.map((part) => node.reshape(part, rest)));
  };
  if (given !== undefined && node.shape(given).length > 0) {
    const sizes = node.dimsInput(1, 'split sizes') ?? [];
    requireWhole(node, sizes, whole);
    return parts(sizes);
  }
  const [size = 1] = given === undefined ? [] : (node.dimsInput(1, 'split size') ?? []);
  if (typeof size === 'number' && size < 1) throw node.malformed(`split size ${size}`, '1 or more');
  if (typeof size === 'number' && typeof whole === 'number') {
    const count = Math.ceil(whole / size);
    return parts(Array.from({ length: count }, (_, i) => Math.min(size, whole - i * size)));
  }
  const length = hostInteger(size, node.block.frame);
  return splitRunning(node, x, { axis, size: length, keepsAxis }).value;
}

function requireWhole(node: ImportNode, sizes: readonly Dim[], whole: Dim): void {
  const total = sizes.reduce<Dim>((sum, size) => node.dims.add(sum, size), 0);
  const isNegative = sizes.some((size) => typeof size === 'number' && size < 0);
  const isWrong = typeof total === 'number' && typeof whole === 'number' && total !== whole;
  if (!isNegative && !isWrong) return;
  throw node.malformed(
    `split sizes ${sizes.map(formatDim).join(', ')}`,
    `sizes from 0 up whose sum is ${formatDim(whole)}`,
  );
}

function importOptional(node: ImportNode): Expr {
  const [element] = node.inputs;
  const declared = node.attributes.type('type');
  if (element === undefined && declared === undefined) {
    throw node.malformed('neither an input nor a type', 'one of them');
  }
  const type = declaredDataType(declared, node.where) ?? OPEN_TYPE;
  return node.compositeResult({ kind: 'optional', element, type });
}

/** Returns true for an optional value; others are always present. */
function isOptional(node: ImportNode, value: Expr): boolean {
  const type = node.dataType(value);
  return type.kind === 'adt' && type.name === 'Option';
}

function importHasElement(node: ImportNode): Expr {
  const [value] = node.inputs;
  if (value === undefined) return node.scalar(0, 'bool');
  if (!isOptional(node, value)) return node.scalar(1, 'bool');
  const known = node.composite(value);
  if (known !== undefined)
    return node.scalar(known.kind === 'optional' && known.element !== undefined ? 1 : 0, 'bool');
  const given = runningData(node, value, 'Option');
  const has = ir.callFunction(ir.global('sequence.has'), [given.value], node.span);
  const type = tensorType({ dtype: 'bool', shape: [] });
  return bindData(node, ir.ifElse(has, node.scalar(1, 'bool'), node.scalar(0, 'bool')), type);
}

function importGetElement(node: ImportNode): Expr {
  const value = node.input(0);
  if (!isOptional(node, value)) return value;
  const error = node.malformed('an optional value without an element', 'one with it');
  const known = node.composite(value);
  if (known?.kind === 'optional') {
    if (known.element === undefined) throw error;
    return known.element;
  }
  const given = runningData(node, value, 'Option');
  const element = ir.variableOf('element', given.element);
  const taken = ir.match(given.value, [
    [ir.constructorPattern('Some', [element]), element],
    [ir.constructorPattern('None', []), ir.stopOf(error, given.element)],
  ]);
  return takenOut(node, taken, { type: given.element });
}

export const SEQUENCE_IMPORTERS: OperatorImporters = {
  ConcatFromSequence: since(11, 'concat full reshape', importConcat),
  Optional: since(15, '', importOptional),
  OptionalGetElement: since(15, '', importGetElement),
  OptionalHasElement: since(15, '', importHasElement),
  SequenceAt: since(11, '', importAt),
  SequenceConstruct: since(11, '', importConstruct),
  SequenceEmpty: since(11, '', importEmpty),
  SequenceErase: since(11, '', importErase),
  SequenceInsert: since(11, '', importInsert),
  SequenceLength: since(11, '', importLength),
  SequenceMap: since(17, '', importSequenceMap),
  SplitToSequence: since(11, 'slice reshape', importSplit),
};
