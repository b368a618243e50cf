import { type DType, storageByteLength } from '../../core/tensor/dtype.ts';
import { internalError, OutOfMemoryError, UsageError } from '../../core/errors.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import { OpaqueValue } from '../../core/contracts/opaque-value.ts';
import { elementCount, formatShape, type Shape } from '../../core/tensor/shape.ts';
import type { Device, DeviceBuffer, DeviceTensor } from '../../device/device.ts';

/**
 * The content of a register. An int is a JS number (a safe integer); everything that is not an int, a
 * string or null is an object with a `kind`. All of them are plain data without behaviour.
 */
export type Value =
  | null
  | number
  | string
  | FloatValue
  | DTypeValue
  | ShapeValue
  | TensorValue
  | StorageValue
  | AdtValue
  | ClosureValue
  | PackedFunctionValue
  | OpaqueValue
  | ShapeHeap
  | MachineValue;

/** A function that the interpreter loop calls: a builtin, a kernel, or an adapted JS function. */
export type PackedFunction = (...args: Value[]) => Value | Promise<Value>;

/** The machine itself, which a packed function gets where the code passes `%vm`. */
export interface MachineValue {
  /** Tells values apart. */
  readonly kind: 'vm';
  /** Uploads a tensor (device 0: the session's, 1: the host). The caller owns one reference. */
  tensor(tensor: HostTensor, deviceIndex?: number): TensorValue;
  /** Contents of tensors, in one round trip per device. */
  read(tensors: readonly TensorValue[]): Promise<HostTensor[]>;
  /** Contents of a tensor in host memory; undefined where reading has to wait for a device. */
  readSync(tensor: TensorValue): HostTensor | undefined;
  /** A closure or packed function as a JS function. */
  toFunction(callee: Value): (...args: Value[]) => Promise<Value>;
  /** Counts one more reference to a value. */
  retain(value: Value): void;
  /** Drops one reference to a value; at zero its memory is free. */
  release(value: Value): void;
}

/** A float of the host. */
export class FloatValue {
  /** Tells values apart. */
  readonly kind = 'float';
  /** The number. */
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/** A dtype as a value. */
export class DTypeValue {
  /** Tells values apart. */
  readonly kind = 'dtype';
  /** The dtype. */
  readonly dtype: DType;

  constructor(dtype: DType) {
    this.dtype = dtype;
  }
}

/** A shape as a value. */
export class ShapeValue {
  /** Tells values apart. */
  readonly kind = 'shape';
  /** Its dimensions. */
  readonly dims: Shape;

  constructor(dims: Shape) {
    this.dims = dims;
  }
}

/**
 * Bounds what a program can hold in host memory: fields and slots of all values that it has made
 * and not dropped.
 */
export class FieldCount {
  readonly #limit: number;
  #live = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Fields and slots that are held now. */
  get live(): number {
    return this.#live;
  }

  /** Throws OutOfMemoryError beyond the limit. */
  take(count: number): void {
    if (this.#live + count <= this.#limit) {
      this.#live += count;
      return;
    }
    throw new OutOfMemoryError(
      {
        got: `more than ${this.#limit} fields of tuples, ADT values, closures and shape heaps`,
        expected: 'a program that holds fewer at one time',
        remedy: 'Drop values that are not used any more, or raise limits.fields.',
      },
      { details: { limit: this.#limit } },
    );
  }

  /** Gives back fields that were taken. */
  give(count: number): void {
    this.#live -= count;
  }
}

/** Integer slots for symbolic dimensions; mutable, and shared by whoever holds it. */
export class ShapeHeap {
  /** Tells values apart. */
  readonly kind = 'heap';
  readonly slots: Float64Array;
  /** The limit that its slots count towards. */
  readonly count: FieldCount | undefined;
  /** How many registers and fields hold it. */
  references = 0;

  constructor(slotCount: number, count?: FieldCount) {
    count?.take(slotCount + 1);
    this.count = count;
    this.slots = new Float64Array(slotCount);
  }
}

/** Takes a storage back when nothing refers to it any more. */
export interface StorageOwner {
  /** Called when the last reference to a storage is gone. */
  reclaim(storage: StorageValue): void;
}

export interface StorageSource {
  /** A storage without references. */
  allocate(byteLength: number): StorageValue;
}

/** A piece of device memory with a reference count: tensors over it, registers and fields count. */
export class StorageValue {
  /** Tells values apart. */
  readonly kind = 'storage';
  /** The allocator that takes it back. */
  readonly owner: StorageOwner;
  /** The device that it lies on. */
  readonly device: Device;
  /** The memory; that of constants is another one when they come back to the device. */
  buffer: DeviceBuffer;
  /** Where the storage begins in its buffer; a multiple of 256. */
  readonly byteOffset: number;
  /** Bytes that were asked for. */
  readonly byteLength: number;
  /** Holds constants: no kernel may write here. */
  readonly isReadOnly: boolean;
  /** How many tensors, registers and fields hold it. */
  references = 0;
  /** How many of these only keep the memory for as long as a call runs: nothing is read by them. */
  holds = 0;
  /**
   * True once a tensor was moved here to be extended. If it is moved again, it gets room to grow.
   */
  isGrowing = false;

  constructor(owner: StorageOwner, place: StoragePlace, byteLength: number) {
    this.owner = owner;
    this.device = place.device;
    this.buffer = place.buffer;
    this.byteOffset = place.byteOffset;
    this.byteLength = byteLength;
    this.isReadOnly = place.isReadOnly === true;
  }
}

/** The place of a storage in the memory of a device. */
interface StoragePlace {
  readonly device: Device;
  readonly buffer: DeviceBuffer;
  /** The offset of the storage in the buffer, in bytes; a multiple of 256. */
  readonly byteOffset: number;
  /** Holds constants: no kernel may write there. */
  readonly isReadOnly?: boolean;
}

/** A view of a storage. It has no count of its own: a reference to it is one to its storage. */
export class TensorValue implements DeviceTensor {
  /** Tells values apart. */
  readonly kind = 'tensor';
  /** The memory that it is a view of. */
  readonly storage: StorageValue;
  /** From the begin of the buffer; a multiple of 256. */
  readonly byteOffset: number;
  /** The dtype of its elements. */
  readonly dtype: DType;
  /** Its dimensions. */
  readonly shape: Shape;

  constructor(storage: StorageValue, view: TensorView) {
    this.storage = storage;
    this.byteOffset = view.byteOffset;
    this.dtype = view.dtype;
    this.shape = view.shape;
  }

  get buffer(): DeviceBuffer {
    return this.storage.buffer;
  }

  /** Holds constants: no kernel may write here. */
  get isReadOnly(): boolean {
    return this.storage.isReadOnly;
  }

  /** Bytes in the storage, in whole words. */
  get byteLength(): number {
    return storageByteLength(this.dtype, elementCount(this.shape));
  }

  /** Where elements do not lie one after the other, a text that says how; else none. */
  get layout(): string {
    return '';
  }

  /** The same view of another storage. */
  over(storage: StorageValue): TensorValue {
    return new TensorValue(storage, this);
  }

  /** All of its memory: this tensor, or one with the room between its elements as a part of its shape. */
  whole(): TensorValue {
    return this;
  }

  /** The elements one after the other: this tensor, or a copy without references where there is room between them. */
  dense(_memory?: StorageSource): TensorValue {
    return this;
  }
}

/** `byteOffset` counts from the begin of the buffer. */
export interface TensorView {
  /** The offset of the first element in the buffer, in bytes. */
  readonly byteOffset: number;
  readonly dtype: DType;
  readonly shape: Shape;
}

/** A constructor tag with fields. A tuple has tag 0. Immutable, so that values form no cycle. */
export class AdtValue {
  /** Tells values apart. */
  readonly kind = 'adt';
  /** Which constructor made it; 0 for a tuple. */
  readonly tag: number;
  /** Its fields, in order. */
  readonly fields: readonly Value[];
  /** The limit that its fields count towards. */
  readonly count: FieldCount | undefined;
  /** How many registers and fields hold it. */
  references = 0;

  /** Retains the fields. */
  constructor(tag: number, fields: readonly Value[], count?: FieldCount) {
    count?.take(fields.length + 1);
    this.count = count;
    this.tag = tag;
    this.fields = fields;
    for (const field of fields) retain(field);
  }
}

/** A function with captured values, which follow the arguments when it is invoked. */
export class ClosureValue {
  readonly kind = 'closure';
  /** Index of a bytecode function, or a packed function. */
  readonly target: number | PackedFunctionValue;
  /** The machine whose functions `target` indexes. */
  readonly machine: MachineValue;
  /** Values that follow the arguments of a call. */
  readonly captured: readonly Value[];
  /** The limit that these values count towards. */
  readonly count: FieldCount | undefined;
  /** How many registers and fields hold it. */
  references = 0;

  /** Retains the captured values. */
  constructor(
    machine: MachineValue,
    target: number | PackedFunctionValue,
    { captured = [], count }: Capture = {},
  ) {
    count?.take(captured.length + 1);
    this.count = count;
    this.machine = machine;
    this.target = target;
    this.captured = captured;
    for (const value of captured) retain(value);
  }
}

/** The captured part of a closure. */
interface Capture {
  /** Values that follow the arguments of a call. */
  readonly captured?: readonly Value[];
  /** The limit that these values count towards. */
  readonly count?: FieldCount;
}

export class PackedFunctionValue {
  readonly kind = 'packed';
  /** The name by which programs call it. */
  readonly name: string;
  readonly call: PackedFunction;

  constructor(name: string, call: PackedFunction) {
    this.name = name;
    this.call = call;
  }
}

/** Counts one more reference to a value. */
export function retain(value: Value): void {
  if (typeof value !== 'object' || value === null) return;
  if (value.kind === 'tensor') value.storage.references++;
  else if (isCounted(value)) value.references++;
}

/**
 * Retains as {@link retain} does, for a caller that keeps the memory of an argument and reads
 * nothing of it: `unhold` ends that.
 */
export function hold(value: Value): void {
  retain(value);
  if (value instanceof TensorValue) value.storage.holds++;
}

/** Drops a reference that {@link hold} counted. */
export function unhold(value: Value): void {
  if (value instanceof TensorValue) value.storage.holds--;
  release(value);
}

/** How many references there are by which somebody may read a storage. */
export function readerCount({ references, holds }: StorageValue): number {
  return references - holds;
}

/** Returns true if the register that a tensor comes from is the only reader of its memory. */
export function isOwned({ storage }: TensorValue): boolean {
  return !storage.isReadOnly && readerCount(storage) <= 1;
}

/** Drops one reference; at zero a storage goes back to its owner and fields are dropped in turn. */
export function release(value: Value): void {
  if (typeof value !== 'object' || value === null) return;
  if (value.kind === 'tensor') releaseStorage(value.storage);
  else if (value.kind === 'storage') releaseStorage(value);
  else if (value.kind === 'heap') releaseHeap(value);
  else if (value.kind === 'adt' || value.kind === 'closure') releaseFields(value);
}

/**
 * Gives up one reference without freeing what has no other: whoever gets the value takes it, as what a function
 * has just made.
 */
export function handOver<V extends Value>(value: V): V {
  const counted: Value = value instanceof TensorValue ? value.storage : value;
  if (typeof counted === 'object' && counted !== null && isCounted(counted)) counted.references--;
  return value;
}

/** Frees a value that a function made and nobody took. */
export function discard(value: Value): void {
  if (typeof value !== 'object' || value === null) return;
  retain(value);
  release(value);
}

type Counted = StorageValue | AdtValue | ClosureValue | ShapeHeap;

function isCounted(value: object & Value): value is Counted {
  const { kind } = value;
  return kind === 'storage' || kind === 'adt' || kind === 'closure' || kind === 'heap';
}

function releaseStorage(storage: StorageValue): void {
  if (storage.references <= 0) throw overReleased(KIND_NAMES.storage);
  if (--storage.references === 0) storage.owner.reclaim(storage);
}

function releaseHeap(heap: ShapeHeap): void {
  if (heap.references <= 0) throw overReleased(KIND_NAMES.heap);
  if (--heap.references === 0) heap.count?.give(heap.slots.length + 1);
}

/** Iterative, because a list of a million cells is nested a million deep. */
function releaseFields(root: AdtValue | ClosureValue): void {
  const pending: (AdtValue | ClosureValue)[] = [root];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (node.references <= 0) throw overReleased(KIND_NAMES[node.kind]);
    if (--node.references > 0) continue;
    const fields = node.kind === 'adt' ? node.fields : node.captured;
    node.count?.give(fields.length + 1);
    for (const field of fields) {
      if (typeof field !== 'object' || field === null) continue;
      if (field.kind === 'adt' || field.kind === 'closure') pending.push(field);
      else release(field);
    }
  }
}

const KIND_NAMES = {
  storage: 'a storage',
  adt: 'an ADT value',
  closure: 'a closure',
  heap: 'a shape heap',
};

function overReleased(kind: string): Error {
  return new UsageError({
    where: 'release',
    got: `${kind} whose last reference was already released`,
    expected: 'one release for each retain',
    remedy: 'Call vm.retain before handing a value to a second owner.',
  });
}

/** A value in words, for messages: `float32 tensor (2, 3)`, `int 4`, `null`. */
export function describeValue(value: Value): string {
  if (value === null) return 'null';
  if (typeof value === 'number') return `int ${value}`;
  if (typeof value === 'string') return `string ${JSON.stringify(value)}`;
  switch (value.kind) {
    case 'float':
      return `float ${value.value}`;
    case 'dtype':
      return `dtype ${value.dtype}`;
    case 'shape':
      return `shape ${formatShape(value.dims)}`;
    case 'tensor':
      return `${value.dtype} tensor ${formatShape(value.shape)}`;
    case 'storage':
      return `storage of ${value.byteLength} bytes`;
    case 'adt':
      return `ADT value of tag ${value.tag} with ${value.fields.length} fields`;
    case 'closure':
      return 'closure';
    case 'packed':
      return `packed function ${value.name}`;
    case 'opaque':
      return `opaque ${value.name}`;
    case 'heap':
      return `shape heap of ${value.slots.length} slots`;
    case 'vm':
      return 'virtual machine';
    default:
      throw internalError(`unknown value ${String(value satisfies never)}`);
  }
}

/** Returns true if something from outside is a value of a machine. */
export function isValue(candidate: unknown): candidate is Value {
  if (candidate === null || candidate === undefined) return candidate === null;
  if (typeof candidate === 'string') return true;
  if (typeof candidate === 'number') return Number.isSafeInteger(candidate);
  return (
    candidate instanceof TensorValue ||
    candidate instanceof AdtValue ||
    candidate instanceof FloatValue ||
    candidate instanceof ShapeValue ||
    candidate instanceof ClosureValue ||
    candidate instanceof PackedFunctionValue ||
    candidate instanceof OpaqueValue ||
    candidate instanceof StorageValue ||
    candidate instanceof DTypeValue ||
    candidate instanceof ShapeHeap ||
    (typeof candidate === 'object' && 'kind' in candidate && candidate.kind === 'vm')
  );
}
