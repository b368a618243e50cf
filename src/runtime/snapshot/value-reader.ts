import type { ByteReader } from '../../core/bytes/byte-reader.ts';
import { type DType, dtypeFromCode, storageByteLength } from '../../core/tensor/dtype.ts';
import { formatShape, type Shape } from '../../core/tensor/shape.ts';
import { PitchedTensor, sliceBytes } from '../values/pitched-tensor.ts';
import {
  AdtValue,
  ClosureValue,
  DTypeValue,
  FloatValue,
  PackedFunctionValue,
  release,
  retain,
  ShapeHeap,
  ShapeValue,
  StorageValue,
  TensorValue,
  type Value,
} from '../values/value.ts';
import type { MachineInternals } from '../link/load-machine.ts';
import { type EntryKind, OperandCode, STORAGE_ALIGNMENT, ValueCode } from './snapshot-format.ts';
import { firstFunction } from './value-writer.ts';

const KINDS = new Map(
  Object.entries(ValueCode).map(([kind, code]): [number, EntryKind] => [code, kind as EntryKind]),
);

/** Bytes of one write to a device. */
const PIECE_BYTE_LENGTH = 8 * 2 ** 20;

/**
 * Makes the values of a snapshot in a machine. Holds one reference to each until {@link dispose}, so
 * that a snapshot that turns out to be bad leaves nothing behind.
 */
export class ValueReader {
  readonly #internals: MachineInternals;
  readonly #functions: readonly PackedFunctionValue[];
  readonly #data: Uint8Array;
  readonly #constants: readonly TensorValue[];
  readonly #values: Value[] = [];
  readonly #readers: Readonly<Record<EntryKind, (r: ByteReader) => Value>> = {
    float: (r) => new FloatValue(r.f64('float')),
    dtype: (r) => new DTypeValue(readDType(r)),
    shape: (r) => new ShapeValue(readShape(r)),
    storage: (r) => this.#storage(r),
    tensor: (r) => this.#tensor(r),
    pitched: (r) => this.#pitched(r),
    constant: (r) => this.#constant(r),
    adt: (r) => this.#adt(r),
    closure: (r) => this.#closure(r),
    tableFunction: (r) => pick(r, this.#tableFunctions(), 'function of the table'),
    packed: (r) => pick(r, this.#functions, 'packed function'),
    heap: (r) => this.#heap(r),
    vm: () => this.#internals.linked.machine,
  };
  /** Contents of storages before this byte of the data were written. */
  #dataOffset = 0;

  /** `functions` are those that are not in the function table, in the order of the snapshot. */
  constructor(
    internals: MachineInternals,
    functions: readonly PackedFunctionValue[],
    data: Uint8Array,
  ) {
    this.#internals = internals;
    this.#functions = functions;
    this.#data = data;
    this.#constants = internals.constants.values.filter((value) => value instanceof TensorValue);
  }

  /** Reads all entries. Throws FormatError, or OutOfMemoryError of a device. */
  readAll(r: ByteReader): void {
    const count = r.count('values', 1);
    for (let index = 0; index < count; index++) {
      const value = this.#entry(r);
      retain(value);
      this.#values.push(value);
    }
    r.end();
    if (this.#dataOffset === this.#data.byteLength) return;
    throw r.error({
      got: `storages of ${this.#dataOffset} bytes`,
      expected: `${this.#data.byteLength}, as much as there is data`,
    });
  }

  /** The table keeps its reference; whoever stores the value retains it. */
  operand(r: ByteReader): Value {
    const code = r.u8('operand');
    switch (code) {
      case OperandCode.null:
        return null;
      case OperandCode.int:
        return r.i64('int') + 0;
      case OperandCode.string:
        return readText(r);
      case OperandCode.value:
        return this.#known(r);
      default:
        throw r.error({ got: `operand code ${code}`, expected: 'a code from 0 to 3' });
    }
  }

  operands(r: ByteReader, what: string): Value[] {
    return r.list(what, 1, () => this.operand(r));
  }

  /** Drops the references of the table. */
  dispose(): void {
    for (const value of this.#values) release(value);
    this.#values.length = 0;
  }

  #known(r: ByteReader): Value {
    const index = r.u32('number of a value');
    const value = this.#values[index];
    if (value !== undefined) return value;
    throw r.error({ got: `value ${index}`, expected: `one of ${this.#values.length} before it` });
  }

  #entry(r: ByteReader): Value {
    const code = r.u8('kind of a value');
    const kind = KINDS.get(code);
    if (kind !== undefined) return this.#readers[kind](r);
    throw r.error({ got: `kind ${code} of a value`, expected: 'a kind from 1 to 13' });
  }

  #tableFunctions(): readonly Value[] {
    const { linked, state } = this.#internals;
    const first = firstFunction(state.program);
    return linked.constants.slice(first, first + state.program.functionTable.length);
  }

  #storage(r: ByteReader): StorageValue {
    const device = r.u8('device index');
    const byteLength = r.i64('length of a storage');
    const wholeByteLength = Math.ceil(byteLength / 4) * 4;
    const begin = this.#dataOffset;
    const end = Math.ceil((begin + wholeByteLength) / STORAGE_ALIGNMENT) * STORAGE_ALIGNMENT;
    if (byteLength < 0 || end > this.#data.byteLength) {
      throw r.error({
        got: `a storage of ${byteLength} bytes`,
        expected: `at most the ${this.#data.byteLength - begin} bytes of data that are left`,
      });
    }
    this.#dataOffset = end;
    const storage = this.#internals.state.allocator(device).allocate(byteLength);
    retain(storage);
    try {
      for (let at = 0; at < wholeByteLength; at += PIECE_BYTE_LENGTH) {
        const length = Math.min(PIECE_BYTE_LENGTH, wholeByteLength - at);
        // Devices may want whole words of memory, where a snapshot begins anywhere.
        const piece = this.#data.slice(begin + at, begin + at + length);
        storage.device.write(storage.buffer, storage.byteOffset + at, piece);
      }
    } catch (error) {
      release(storage);
      throw error;
    }
    storage.references--;
    return storage;
  }

  #tensor(r: ByteReader): TensorValue {
    const storage = this.#known(r);
    if (!(storage instanceof StorageValue)) {
      throw r.error({ got: 'a tensor without a storage', expected: 'a storage' });
    }
    const view = readView(r, Math.ceil(storage.byteLength / 4) * 4);
    return new TensorValue(storage, { ...view, byteOffset: storage.byteOffset + view.byteOffset });
  }

  #pitched(r: ByteReader): PitchedTensor {
    const { storage, byteOffset, dtype, shape } = this.#tensor(r);
    const axis = r.u32('axis');
    const size = r.i64('size along the axis');
    const capacity = shape[axis] ?? -1;
    const view = { byteOffset, dtype, shape: shape.with(axis < shape.length ? axis : 0, size) };
    if (size < 0 || size > capacity || sliceBytes(view, axis, 1) % 4 !== 0) {
      throw r.error({
        got: `${size} of ${capacity} along axis ${axis} of ${formatShape(shape)}`,
        expected: 'at most the size of an axis, along which each step is whole words',
      });
    }
    const memory = this.#internals.state.allocatorOf(storage.device);
    return new PitchedTensor(storage, view, { axis, capacity, memory });
  }

  #constant(r: ByteReader): TensorValue {
    const constant = pick(r, this.#constants, 'tensor constant');
    const { storage, byteOffset, byteLength } = constant;
    const view = readView(r, byteLength);
    return new TensorValue(storage, { ...view, byteOffset: byteOffset + view.byteOffset });
  }

  #adt(r: ByteReader): AdtValue {
    const tag = r.i64('tag');
    return new AdtValue(tag, this.operands(r, 'fields'), this.#internals.state.fields);
  }

  #closure(r: ByteReader): ClosureValue {
    const { linked, state } = this.#internals;
    const target = this.operand(r);
    const captured = this.operands(r, 'captured values');
    const isPacked = target instanceof PackedFunctionValue;
    if (isPacked || (typeof target === 'number' && linked.functions[target] !== undefined)) {
      return new ClosureValue(linked.machine, target, { captured, count: state.fields });
    }
    throw r.error({ got: 'a closure over no function', expected: 'a function' });
  }

  #heap(r: ByteReader): ShapeHeap {
    const slotCount = r.count('slots', 8);
    const heap = new ShapeHeap(slotCount, this.#internals.state.fields);
    for (let slot = 0; slot < slotCount; slot++) heap.slots[slot] = r.f64('slot');
    return heap;
  }
}

function pick<T>(r: ByteReader, list: readonly T[], what: string): T {
  const index = r.u32(`number of a ${what}`);
  const found = list[index];
  if (found !== undefined) return found;
  throw r.error({ got: `${what} ${index}`, expected: `one of ${list.length}` });
}

/** The place of a tensor in the storage or tensor that it is a view of, in bytes. */
interface View {
  readonly byteOffset: number;
  readonly dtype: DType;
  readonly shape: Shape;
}

export function readView(r: ByteReader, limit: number): View {
  const byteOffset = r.i64('offset of a tensor');
  const dtype = readDType(r);
  const shape = readShape(r);
  const count = shape.reduce((product, dim) => product * dim, 1);
  const end =
    byteOffset + (Number.isSafeInteger(count) ? storageByteLength(dtype, count) : limit + 1);
  if (byteOffset >= 0 && byteOffset % 4 === 0 && end <= limit) return { byteOffset, dtype, shape };
  throw r.error({ got: `a tensor up to byte ${end}`, expected: `an end within ${limit} bytes` });
}

function readDType(r: ByteReader): DType {
  const code = r.u8('dtype');
  const dtype = dtypeFromCode(code);
  if (dtype !== undefined) return dtype;
  throw r.error({ got: `dtype code ${code}`, expected: 'the code of a dtype' });
}

function readShape(r: ByteReader): number[] {
  return r.list('dimensions', 8, () => {
    const dim = r.i64('dimension');
    if (dim >= 0) return dim;
    throw r.error({ got: `dimension ${dim}`, expected: 'a dimension from 0 up' });
  });
}

/** Reads a text that `writeText` wrote. */
function readText(r: ByteReader): string {
  const length = r.count('UTF-16 units', 2);
  let text = '';
  for (let i = 0; i < length; i++) text += String.fromCharCode(r.u16('UTF-16 unit'));
  return text;
}
