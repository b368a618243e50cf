import type { ExecutableData } from '../../bytecode/executable.ts';
import { ByteWriter } from '../../core/byte-writer.ts';
import { dtypeInfo } from '../../core/dtype.ts';
import { internalError, UnsupportedError } from '../../core/errors.ts';
import type { Shape } from '../../core/shape.ts';
import type { Parts } from '../virtual-machine.ts';
import {
  type ClosureValue,
  PackedFunctionValue,
  type StorageValue,
  TensorValue,
  type Value,
} from '../value.ts';
import { OperandCode, ValueCode } from './snapshot-format.ts';

type ValueObject = Exclude<Value, null | number | string>;

/**
 * Writes values to a table in which each object stands once, after everything it refers to: what
 * was shared stays shared. Values form no cycles, because they are immutable once made.
 */
export class ValueWriter {
  /** Entries, without their number. */
  readonly entries = new ByteWriter();
  /** In the order of their entries. */
  readonly storages: StorageValue[] = [];
  /** Names of packed functions that are not in the function table. */
  readonly functionNames: string[] = [];
  count = 0;
  readonly #parts: Parts;
  readonly #indices = new Map<ValueObject, number>();
  readonly #tableFunctions: ReadonlyMap<Value, number>;
  readonly #constants: readonly TensorValue[];

  constructor(parts: Parts, program: ExecutableData) {
    this.#parts = parts;
    const { constants } = parts.linked;
    const first = firstFunction(program);
    const functions = constants.slice(first, first + program.functionTable.length);
    this.#tableFunctions = new Map(functions.map((value, index) => [value, index]));
    this.#constants = parts.constants.values.filter((value) => value instanceof TensorValue);
  }

  /** Writes a reference to a value, which has been {@link add}ed. */
  operand(w: ByteWriter, value: Value): void {
    if (value === null) w.u8(OperandCode.null);
    else if (typeof value === 'number') w.u8(OperandCode.int).i64(value);
    else if (typeof value === 'string') writeText(w.u8(OperandCode.string), value);
    else w.u8(OperandCode.value).u32(this.#indexOf(value));
  }

  operands(w: ByteWriter, values: readonly Value[]): void {
    w.u32(values.length);
    for (const value of values) this.operand(w, value);
  }

  /** Enters a value and all that it refers to. Iterative: a list may be a million cells deep. */
  add(root: Value): void {
    const pending: Value[] = [root];
    for (let value = pending.at(-1); value !== undefined; value = pending.at(-1)) {
      if (!isObject(value) || this.#indices.has(value)) {
        pending.pop();
        continue;
      }
      const depth = pending.length;
      for (const part of this.#partsOf(value)) {
        if (isObject(part) && !this.#indices.has(part)) pending.push(part);
      }
      if (pending.length > depth) continue;
      pending.pop();
      this.#write(value);
      this.#indices.set(value, this.count++);
    }
  }

  #partsOf(value: ValueObject): readonly Value[] {
    if (value.kind === 'adt') return value.fields;
    if (value.kind === 'tensor') return value.storage.isReadOnly ? [] : [value.storage];
    if (value.kind !== 'closure' || this.#tableFunctions.has(value)) return [];
    return typeof value.target === 'number' ? value.captured : [...value.captured, value.target];
  }

  #indexOf(value: ValueObject): number {
    const index = this.#indices.get(value);
    if (index === undefined) throw internalError('a value of a snapshot was not entered');
    return index;
  }

  #write(value: ValueObject): void {
    const w = this.entries;
    const entry = this.#tableFunctions.get(value);
    if (entry !== undefined) {
      w.u8(ValueCode.tableFunction).u32(entry);
      return;
    }
    switch (value.kind) {
      case 'float':
        w.u8(ValueCode.float).f64(value.value);
        return;
      case 'dtype':
        w.u8(ValueCode.dtype).u8(dtypeInfo(value.dtype).code);
        return;
      case 'shape':
        writeShape(w.u8(ValueCode.shape), value.dims);
        return;
      case 'storage':
        this.#writeStorage(value);
        return;
      case 'tensor':
        this.#writeTensor(value);
        return;
      case 'adt':
        this.operands(w.u8(ValueCode.adt).i64(value.tag), value.fields);
        return;
      case 'closure':
        this.#writeClosure(value);
        return;
      case 'packed':
        w.u8(ValueCode.packed).u32(this.functionNames.push(value.name) - 1);
        return;
      case 'heap':
        w.u8(ValueCode.heap).u32(value.slots.length);
        for (const slot of value.slots) w.f64(slot);
        return;
      case 'vm':
        w.u8(ValueCode.machine);
        return;
      default:
        value satisfies never;
    }
  }

  #writeStorage(storage: StorageValue): void {
    const { allocators } = this.#parts.state;
    const device = allocators.findIndex((allocator) => allocator.device === storage.device);
    if (device < 0) throw elsewhere('a storage of another machine');
    this.entries.u8(ValueCode.storage).u8(device).i64(storage.byteLength);
    this.storages.push(storage);
  }

  #writeTensor(tensor: TensorValue): void {
    const w = this.entries;
    const { storage, byteOffset, dtype, shape } = tensor;
    if (storage.isReadOnly) {
      const index = this.#constantOf(tensor);
      const constant = this.#constants[index];
      w.u8(ValueCode.constant).u32(index);
      w.i64(byteOffset - (constant?.byteOffset ?? 0));
    } else {
      w.u8(ValueCode.tensor).u32(this.#indexOf(storage));
      w.i64(byteOffset - storage.byteOffset);
    }
    writeShape(w.u8(dtypeInfo(dtype).code), shape);
  }

  /** The last constant that begins at or before a view, among the tensor constants. */
  #constantOf({ storage, byteOffset }: TensorValue): number {
    let found = -1;
    let begin = -1;
    for (const [index, constant] of this.#constants.entries()) {
      if (constant.storage !== storage || constant.byteOffset > byteOffset) continue;
      if (constant.byteOffset > begin) [found, begin] = [index, constant.byteOffset];
    }
    if (found < 0) throw elsewhere('a constant of another machine');
    return found;
  }

  #writeClosure({ machine, target, captured }: ClosureValue): void {
    const w = this.entries.u8(ValueCode.closure);
    if (target instanceof PackedFunctionValue) this.operand(w, target);
    else if (machine === this.#parts.linked.machine) w.u8(OperandCode.int).i64(target);
    else throw elsewhere('a closure of another machine');
    this.operands(w, captured);
  }
}

/** Where the functions of the function table begin among the constants of linked code. */
export function firstFunction({ constants }: ExecutableData): number {
  return constants.length + 2;
}

export function writeShape(w: ByteWriter, shape: Shape): void {
  w.u32(shape.length);
  for (const dim of shape) w.i64(dim);
}

/** UTF-16, because a string of JavaScript need not be well-formed. */
export function writeText(w: ByteWriter, text: string): void {
  w.u32(text.length);
  for (let i = 0; i < text.length; i++) w.u16(text.charCodeAt(i));
}

function isObject(value: Value): value is ValueObject {
  return typeof value === 'object' && value !== null;
}

function elsewhere(got: string): UnsupportedError {
  return new UnsupportedError({
    where: 'snapshot',
    got,
    expected: 'values of the machine that is stored',
    remedy: 'Read the tensor and upload it with vm.tensor, or pass a JS function.',
  });
}
