import { type BuiltinName, MakeCode, MatchCode } from '../../bytecode/builtins.ts';
import type { ShapeProgram } from '../../bytecode/executable.ts';
import { applyDimOperator } from '../../core/dims/dim.ts';
import { internalError, ShapeError } from '../../core/errors.ts';
import { formatShape, type Shape } from '../../core/tensor/shape.ts';
import {
  AdtValue,
  describeValue,
  DTypeValue,
  type PackedFunction,
  ShapeHeap,
  ShapeValue,
  TensorValue,
  type Value,
} from '../values/value.ts';
import type { VmState } from '../vm-state.ts';
import { expectHeap, expectInt, expectTensor, wrongKind } from './operand.ts';

/** Symbolic dimensions: they are computed on the host and never wait for a device. */
export function shapeBuiltins(state: VmState) {
  return {
    alloc_shape_heap: (slotCount: Value) =>
      new ShapeHeap(expectInt(slotCount, 'alloc_shape_heap'), state.fields),
    match_shape: matchShape,
    make_shape: makeShape,
    store_shape: (heap: Value, slot: Value, value: Value) => {
      expectHeap(heap, 'store_shape').slots[expectInt(slot, 'store_shape')] = expectInt(
        value,
        'store_shape',
      );
      return null;
    },
    load_shape: (heap: Value, slot: Value) =>
      expectHeap(heap, 'load_shape').slots[expectInt(slot, 'load_shape')] ?? 0,
    compute_shape: (heap: Value, index: Value) => {
      const position = expectInt(index, 'compute_shape');
      const program = state.program.shapePrograms[position];
      if (program === undefined) throw internalError(`no shape program ${position}`);
      runShapeProgram(program, expectHeap(heap, 'compute_shape').slots);
      return null;
    },
    shape_of: (tensor: Value) => new ShapeValue(expectTensor(tensor, 'shape_of').shape),
    check_tensor_info: checkTensorInfo,
    check_shape_info: checkShapeInfo,
    check_tuple_info: checkTupleInfo,
  } satisfies Partial<Record<BuiltinName, PackedFunction>>;
}

/** `pairs` is (code, operand) for each dimension; the last of `rest` is the context. */
function matchShape(input: Value, heap: Value, rankValue: Value, ...rest: Value[]): null {
  const rank = expectInt(rankValue, 'match_shape');
  const dims = dimsOf(input);
  const { slots } = expectHeap(heap, 'match_shape');
  const context = rest.at(-1) ?? null;
  if (dims.length !== rank) {
    throw mismatch(context, `rank ${dims.length} (shape ${formatShape(dims)})`, `rank ${rank}`);
  }
  for (let axis = 0; axis < dims.length; axis++) {
    const dim = dims[axis] ?? 0;
    const operand = rest[axis * 2 + 1] as number;
    const expected = expectedDim(rest[axis * 2] as number, operand, slots);
    if (expected === 'store') slots[operand] = dim;
    else if (expected !== 'any' && expected !== dim) {
      throw mismatch(
        context,
        `${dim} at dimension ${axis} of shape ${formatShape(dims)}`,
        `${expected}`,
      );
    }
  }
  return null;
}

function expectedDim(code: number, operand: number, slots: Float64Array): number | 'store' | 'any' {
  switch (code) {
    case MatchCode.assertImmediate:
      return operand;
    case MatchCode.assertSlot:
      return slots[operand] ?? 0;
    case MatchCode.store:
      return 'store';
    default:
      return 'any';
  }
}

function makeShape(heap: Value, _rank: Value, ...pairs: Value[]): ShapeValue {
  const { slots } = expectHeap(heap, 'make_shape');
  const dims: number[] = [];
  for (let i = 0; i < pairs.length; i += 2) {
    const operand = pairs[i + 1] as number;
    const dim = pairs[i] === MakeCode.slot ? (slots[operand] ?? 0) : operand;
    if (dim < 0) {
      throw new ShapeError({
        where: 'make_shape',
        got: `${dim} for dimension ${i / 2}`,
        expected: 'a dimension from 0 up',
      });
    }
    dims.push(dim);
  }
  return new ShapeValue(dims);
}

function checkTensorInfo(value: Value, rankValue: Value, dtype: Value, context: Value): null {
  const rank = expectInt(rankValue, 'check_tensor_info');
  if (!(value instanceof TensorValue)) throw mismatch(context, describeValue(value), 'a tensor');
  if (rank !== -1 && value.shape.length !== rank) {
    throw mismatch(context, describeValue(value), `a tensor of rank ${rank}`);
  }
  if (dtype instanceof DTypeValue && value.dtype !== dtype.dtype) {
    throw mismatch(context, describeValue(value), `a ${dtype.dtype} tensor`);
  }
  return null;
}

function checkShapeInfo(value: Value, rankValue: Value, context: Value): null {
  const rank = expectInt(rankValue, 'check_shape_info');
  if (value instanceof ShapeValue && (rank === -1 || value.dims.length === rank)) return null;
  const expected = rank === -1 ? 'a shape' : `a shape of rank ${rank}`;
  throw mismatch(context, describeValue(value), expected);
}

function checkTupleInfo(value: Value, fieldsValue: Value, context: Value): null {
  const fields = expectInt(fieldsValue, 'check_tuple_info');
  const isTuple = value instanceof AdtValue && value.tag === 0;
  if (isTuple && (fields === -1 || value.fields.length === fields)) return null;
  const expected = fields === -1 ? 'a tuple' : `a tuple of ${fields} fields`;
  throw mismatch(context, describeValue(value), expected);
}

function dimsOf(value: Value): Shape {
  if (value instanceof TensorValue) return value.shape;
  if (value instanceof ShapeValue) return value.dims;
  throw wrongKind(value, 'a tensor or a shape', 'match_shape');
}

/** The context says where in the source model the check comes from. */
function mismatch(context: Value, got: string, expected: string): ShapeError {
  const where = typeof context === 'string' && context !== '' ? context : undefined;
  return new ShapeError({ where, got, expected });
}

/**
 * Runs stack code over the slots of a shape heap. The verifier has bounded slots and stack depth.
 * Throws ShapeError for a zero divisor and for results beyond 2^53.
 */
function runShapeProgram(program: ShapeProgram, slots: Float64Array): void {
  const stack: number[] = [];
  for (const step of program.steps) {
    switch (step.op) {
      case 'const':
        stack.push(step.value);
        break;
      case 'load':
        stack.push(slots[step.slot] ?? 0);
        break;
      case 'store':
        slots[step.slot] = pop(stack);
        break;
      default: {
        const right = pop(stack);
        const left = pop(stack);
        const result = applyDimOperator(step.op, left, right);
        if (result === undefined) throw notExact(step.op, left, right);
        stack.push(result + 0);
      }
    }
  }
}

function pop(stack: number[]): number {
  const value = stack.pop();
  if (value === undefined) throw internalError('a verified shape program underflows its stack');
  return value;
}

function notExact(op: string, left: number, right: number): ShapeError {
  const dividesByZero = right === 0 && (op === 'floordiv' || op === 'mod');
  return new ShapeError({
    where: 'shape program',
    got: `${op} of ${left} and ${right}`,
    expected: dividesByZero ? 'a divisor other than 0' : 'a result within 2^53',
    remedy: 'Check the shapes of the inputs.',
  });
}
