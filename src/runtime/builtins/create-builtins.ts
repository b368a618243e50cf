import type { BuiltinName } from '../../bytecode/builtins.ts';
import { intBuiltins } from '../../bytecode/int-builtins.ts';
import { truthOf } from '../../bytecode/truth-of.ts';
import { internalError, RuntimeError, ShapeError } from '../../core/errors.ts';
import { type DType, dtypeInfo, storageByteLength } from '../../core/tensor/dtype.ts';
import { numberToFloat16 } from '../../core/tensor/float16.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { readTensors, readTensorSync, rangeOf } from '../values/tensor-read.ts';
import {
  AdtValue,
  describeValue,
  type PackedFunction,
  type Value,
  FloatValue,
  ClosureValue,
  PackedFunctionValue,
  TensorValue,
  isOwned,
} from '../values/value.ts';
import type { VmState } from '../vm-state.ts';
import {
  expectAdt,
  expectInt,
  expectDType,
  expectFloat,
  numberOf,
  expectString,
  wrongKind,
  expectShape,
  expectStorage,
  expectTensor,
} from './operand.ts';
import { shapeBuiltins } from './shape-builtins.ts';
import { elementCount, formatShape } from '../../core/tensor/shape.ts';
import { STORAGE_ALIGNMENT } from '../allocator/size-class.ts';
import type * as FormatValue from '../values/format-value.ts';

const INT_BUILTINS = intBuiltins<Value>(notInts);

/** One implementation for each entry of `BUILTINS`. */
export function createBuiltins(state: VmState): Record<BuiltinName, PackedFunction> {
  return {
    ...memoryBuiltins(state),
    ...shapeBuiltins(state),
    ...adtBuiltins(state),
    ...controlBuiltins(state),
    ...numberBuiltins(state),
    ...INT_BUILTINS,
  } satisfies Record<BuiltinName, PackedFunction>;
}

function notInts(a: Value, b: Value): never {
  expectInt(a, 'int arithmetic');
  expectInt(b, 'int arithmetic');
  throw internalError('both operands are ints');
}

/** Tuples and other ADT values. */
function adtBuiltins({ fields: count }: VmState) {
  return {
    make_tuple: (...fields: Value[]) => new AdtValue(0, fields, count),
    tuple_get: (tuple: Value, index: Value) => field(tuple, index, 'tuple_get'),
    make_adt: (tag: Value, ...fields: Value[]) =>
      new AdtValue(expectInt(tag, 'make_adt'), fields, count),
    get_tag: (adt: Value) => expectAdt(adt, 'get_tag').tag,
    get_field: (adt: Value, index: Value) => field(adt, index, 'get_field'),
  } satisfies Partial<Record<BuiltinName, PackedFunction>>;
}

function field(value: Value, index: Value, where: string): Value {
  const { fields } = expectAdt(value, where);
  const position = expectInt(index, where);
  const found = fields[position];
  if (found !== undefined) return found;
  throw new RuntimeError({
    where,
    got: `field ${position} of ${describeValue(value)}`,
    expected:
      fields.length === 0 ? 'a value with fields' : `a field from 0 to ${fields.length - 1}`,
  });
}

/** Floats of the host, and tensors of its numbers. */
function numberBuiltins(state: VmState) {
  return {
    float_add: arithmetic((a, b) => a + b),
    float_sub: arithmetic((a, b) => a - b),
    float_mul: arithmetic((a, b) => a * b),
    float_div: arithmetic((a, b) => a / b),
    float_pow: arithmetic((a, b) => a ** b),
    float_eq: comparison((a, b) => a === b),
    float_lt: comparison((a, b) => a < b),
    float_from_int: (value: Value) => new FloatValue(expectInt(value, 'float_from_int')),
    int_from_float: (value: Value) => {
      const float = expectFloat(value, 'int_from_float');
      const int = Math.floor(float) + 0;
      if (Number.isSafeInteger(int)) return int;
      throw new RuntimeError({
        where: 'int_from_float',
        got: `${float}`,
        expected: 'a number between -2^53 and 2^53',
      });
    },
    make_tensor: (dtype: Value, device: Value, ...elements: Value[]) => {
      // A recording would repeat the elements.
      state.recording?.abandon();
      const { dtype: type } = expectDType(dtype, 'make_tensor');
      const values = elements.map((element) => asElement(type, numberOf(element, 'make_tensor')));
      const tensor = HostTensor.from(type, [values.length], values);
      return state.upload(tensor, expectInt(device, 'make_tensor'));
    },
    make_sizes: (...sizes: Value[]) => {
      const dims = sizes.map((size, axis) => {
        const dim = expectInt(size, 'make_sizes');
        if (dim >= 0) return dim;
        const got = `${dim} for dimension ${axis}`;
        throw new ShapeError({ where: 'make_sizes', got, expected: 'a dimension from 0 up' });
      });
      return state.upload(HostTensor.zeros('int32', [0, ...dims]), 0);
    },
  } satisfies Partial<Record<BuiltinName, PackedFunction>>;
}

/** A number as an array of the dtype holds it: towards zero for integers, as `cast` does. */
function asElement(dtype: DType, value: number): number {
  if (dtype === 'float16') return numberToFloat16(value);
  if (dtype === 'bool') return Number(value !== 0);
  if (dtypeInfo(dtype).category === 'float') return value;
  return Number.isFinite(value) ? Math.trunc(value) : 0;
}

function arithmetic(compute: (a: number, b: number) => number) {
  return (a: Value, b: Value): FloatValue =>
    new FloatValue(compute(expectFloat(a, 'float arithmetic'), expectFloat(b, 'float arithmetic')));
}

function comparison(holds: (a: number, b: number) => boolean) {
  return (a: Value, b: Value): number =>
    Number(holds(expectFloat(a, 'float arithmetic'), expectFloat(b, 'float arithmetic')));
}

/** Conditions, closures, and what ends or reports a program. */
function controlBuiltins(state: VmState) {
  // Loaded with the first text that is printed.
  let formatting: typeof FormatValue | undefined;
  const print = (values: readonly Value[], file: typeof FormatValue): null | Promise<null> => {
    formatting = file;
    const write = (line: string): null => {
      state.log(line);
      return null;
    };
    const line = file.formatValues(values);
    return typeof line === 'string' ? write(line) : line.then(write);
  };
  return {
    read_if_cond: (condition: Value) => readCondition(condition, 'read_if_cond'),
    assert: (condition: Value, message: Value) => {
      const holds = readCondition(condition, 'assert');
      if (typeof holds === 'number') return assertHolds(holds, message);
      return holds.then((late) => assertHolds(late, message));
    },
    fatal: (message: Value) => {
      throw new RuntimeError(expectString(message, 'fatal'));
    },
    print: (...values: Value[]) =>
      formatting === undefined
        ? import('../values/format-value.ts').then((file) => print(values, file))
        : print(values, formatting),
    make_closure: (callee: Value, ...captured: Value[]) => {
      const { machine, fields: count } = state;
      if (callee instanceof PackedFunctionValue) {
        return new ClosureValue(machine, callee, { captured, count });
      }
      if (callee instanceof ClosureValue) {
        const all = [...captured, ...callee.captured];
        return new ClosureValue(callee.machine, callee.target, { captured: all, count });
      }
      throw wrongKind(callee, 'a function', 'make_closure');
    },
    // The interpreter loop pushes a frame instead; this serves a closure over invoke_closure itself.
    invoke_closure: (callee: Value, ...args: Value[]) => state.machine.toFunction(callee)(...args),
  } satisfies Partial<Record<BuiltinName, PackedFunction>>;
}

function assertHolds(condition: number, message: Value): null {
  if (condition !== 0) return null;
  throw new RuntimeError(`assertion failed: ${expectString(message, 'assert')}`);
}

/** 0 or 1; a promise only where the device cannot be read without waiting. */
function readCondition(condition: Value, where: string): number | Promise<number> {
  if (!(condition instanceof TensorValue)) return expectInt(condition, where) === 0 ? 0 : 1;
  if (condition.shape.some((dim) => dim !== 1)) {
    throw new ShapeError({ where, got: describeValue(condition), expected: 'one element' });
  }
  const ready = readTensorSync(condition);
  return ready === undefined
    ? readTensors([condition]).then(([late]) => (late === undefined ? 0 : truthOf(late)))
    : truthOf(ready);
}

/** Storages, tensors over them, and what moves elements. */
function memoryBuiltins(state: VmState) {
  const emptyLike = (tensor: TensorValue): TensorValue =>
    state.allocateTensor(state.allocatorOf(tensor.storage.device), tensor);
  const copyOf = (tensor: TensorValue): TensorValue => {
    const copy = emptyLike(tensor);
    if (tensor.byteLength > 0) copy.storage.device.copy(rangeOf(tensor), rangeOf(copy));
    return copy;
  };
  /** Another value in any case: what is known of the elements of this one does not hold for long. */
  const overOwned = (tensor: TensorValue, other: typeof copyOf): TensorValue =>
    isOwned(tensor) ? tensor.over(tensor.storage) : other(tensor);
  const dense = (value: Value, where: string): TensorValue => {
    const tensor = expectTensor(value, where);
    return tensor.dense(state.allocatorOf(tensor.storage.device));
  };
  return {
    alloc_storage: (byteLength: Value, device: Value) => {
      const allocator = state.allocator(expectInt(device, 'alloc_storage'));
      return allocator.allocate(checkedByteLength(expectInt(byteLength, 'alloc_storage')));
    },
    alloc_tensor: state.widened?.around(allocTensor) ?? allocTensor,
    reshape: (tensor: Value, shape: Value) =>
      reshape(expectTensor(tensor, 'reshape'), expectShape(shape, 'reshape').dims, dense),
    copy: (value: Value) => {
      const tensor = dense(value, 'copy');
      return tensor === value ? copyOf(tensor) : tensor;
    },
    own: (value: Value) => overOwned(dense(value, 'own'), copyOf),
    reuse: (value: Value) => overOwned(dense(value, 'reuse'), emptyLike),
    append: (...operands: Value[]) => state.growing?.appendTensors(state, operands) ?? null,
    whole: (tensor: Value, axis: Value) => state.growing?.wholeTensor(state, tensor, axis) ?? null,
    to_device: (value: Value, device: Value) =>
      toDevice(state, expectTensor(value, 'to_device'), expectInt(device, 'to_device')),
    move: (value: Value) => value,
    kill: () => null,
  } satisfies Partial<Record<BuiltinName, PackedFunction>>;
}

function allocTensor(storageValue: Value, offset: Value, shapeValue: Value, dtypeValue: Value) {
  const storage = expectStorage(storageValue, 'alloc_tensor');
  const begin = expectInt(offset, 'alloc_tensor');
  const shape = expectShape(shapeValue, 'alloc_tensor').dims;
  const { dtype } = expectDType(dtypeValue, 'alloc_tensor');
  const byteLength = storageByteLength(dtype, elementCount(shape));
  const fits = begin >= 0 && begin + byteLength <= Math.ceil(storage.byteLength / 4) * 4;
  if (fits && begin % STORAGE_ALIGNMENT === 0) {
    return new TensorValue(storage, { byteOffset: storage.byteOffset + begin, dtype, shape });
  }
  throw new RuntimeError({
    where: 'alloc_tensor',
    got: `${dtype} ${formatShape(shape)}, ${byteLength} bytes at ${begin}`,
    expected: fits
      ? `an offset that is a multiple of ${STORAGE_ALIGNMENT}`
      : `a tensor within the ${storage.byteLength} bytes of the storage`,
  });
}

function reshape(
  tensor: TensorValue,
  shape: readonly number[],
  dense: (tensor: TensorValue, where: string) => TensorValue,
): TensorValue {
  if (elementCount(shape) === elementCount(tensor.shape)) {
    const { storage, byteOffset, dtype } = dense(tensor, 'reshape');
    return new TensorValue(storage, { byteOffset, dtype, shape });
  }
  throw new ShapeError({
    where: 'reshape',
    got: `shape ${formatShape(shape)} for a tensor ${formatShape(tensor.shape)}`,
    expected: `a shape of ${elementCount(tensor.shape)} elements`,
  });
}

function toDevice(state: VmState, tensor: TensorValue, index: number): Value | Promise<Value> {
  if (state.allocator(index).device === tensor.storage.device) return tensor;
  const contents = readTensorSync(tensor);
  if (contents !== undefined) return state.upload(contents, index);
  return readTensors([tensor]).then(([read]) =>
    read === undefined ? null : state.upload(read, index),
  );
}

function checkedByteLength(byteLength: number): number {
  if (byteLength >= 0) return byteLength;
  throw new RuntimeError({
    where: 'alloc_storage',
    got: `${byteLength} bytes`,
    expected: 'a number of bytes from 0 up',
  });
}
