import { UsageError } from '../../core/errors.ts';
import type { Frame } from '../frame.ts';
import {
  describeValue,
  release,
  retain,
  type ShapeHeap,
  type StorageValue,
  TensorValue,
  type Value,
} from '../values/value.ts';
import type { VirtualMachine } from '../virtual-machine.ts';
import type {
  DebugDetail,
  DebugMemory,
  DebugStorage,
  DebugValue,
  StorageUse,
} from './debug-types.ts';
import { describeTensor } from './describe-tensor.ts';

const SHOWN_PARTS = 1000;
const SHOWN_SLOTS = 1000;
const SHOWN_STORAGES = 1000;
const SHOWN_USES = 100;
/** Values that are walked for memory: a list of tensors may be a million long. */
const WALKED_VALUES = 100_000;

/** The registers of a frame that hold something; those of which tensors nobody has written yet. */
export function describeRegisters(
  { registers }: Frame,
  unwritten: ReadonlySet<number>,
): readonly DebugValue[] {
  return registers.flatMap((value, index) => {
    const isUnwritten = value instanceof TensorValue && unwritten.has(index);
    return value === null ? [] : [{ ...describe(value, index), isUnwritten }];
  });
}

function describe(value: Value, index: number): DebugValue {
  const [kind, text] = [kindOf(value), describeValue(value)];
  return { index, kind, text, parts: partsOf(value).length, isUnwritten: false };
}

function kindOf(value: Value): string {
  if (value === null) return 'null';
  if (typeof value === 'number') return 'int';
  return typeof value === 'string' ? 'string' : value.kind;
}

function partsOf(value: Value): readonly Value[] {
  if (typeof value !== 'object' || value === null) return [];
  if (value.kind === 'adt') return value.fields;
  return value.kind === 'closure' ? value.captured : [];
}

/** A value of a register, or with `path` a part of it, a part of that and so on. Throws UsageError where there is none. */
export function valueAt(frame: Frame, register: number, path: readonly number[]): Value {
  const missing = (got: string): UsageError =>
    new UsageError({
      where: 'debug, value',
      got,
      expected: 'a register of the frame, and parts that its value has',
    });
  let value = frame.registers[register];
  if (value === undefined) throw missing(`register ${register}`);
  for (const index of path) {
    const part: Value | undefined = partsOf(value)[index];
    if (part === undefined) throw missing(`part ${index} of ${describeValue(value)}`);
    value = part;
  }
  return value;
}

/** A value in full; a tensor is read from its device. */
export async function describeInFull(machine: VirtualMachine, value: Value): Promise<DebugDetail> {
  if (value instanceof TensorValue) {
    retain(value);
    try {
      const [tensor] = await machine.read([value]);
      if (tensor !== undefined) return describeTensor(tensor);
    } finally {
      release(value);
    }
  }
  const text = describeValue(value);
  const kind = kindOf(value);
  if (kind === 'heap') return { kind, slots: slotsOf(value as ShapeHeap) };
  if (kind !== 'adt' && kind !== 'closure') return { kind: 'other', text };
  const parts = partsOf(value).slice(0, SHOWN_PARTS).map(describe);
  return { kind: 'parts', text, parts };
}

const slotsOf = ({ slots }: ShapeHeap): number[] => [...slots.subarray(0, SHOWN_SLOTS)];

/** Walks the registers of a stack for what memory they hold. */
export class HeldMemory {
  /** Numbers of storages, in the order in which they were seen. */
  readonly #numbers = new WeakMap<StorageValue, number>();
  #next = 0;

  /** Frames with the outermost first, as a stack has them. */
  describe(frames: readonly Frame[]): DebugMemory {
    const uses = new Map<StorageValue, StorageUse[]>();
    const heaps: { frame: number; register: number; slots: readonly number[] }[] = [];
    for (const { value, frame, register } of heldValues(frames)) {
      const storage = storageOf(value);
      if (storage !== undefined) {
        const known = uses.get(storage) ?? [];
        uses.set(storage, known);
        if (known.length < SHOWN_USES) known.push({ frame, register, ...rangeIn(storage, value) });
      } else if (kindOf(value) === 'heap') {
        heaps.push({ frame, register, slots: slotsOf(value as ShapeHeap) });
      }
    }
    const storages = [...uses].map(([storage, all]): DebugStorage => {
      const { byteLength, isReadOnly } = storage;
      const number = this.#numberOf(storage);
      return { number, device: storage.device.info.name, byteLength, isReadOnly, uses: all };
    });
    const own = storages.filter(({ isReadOnly }) => !isReadOnly);
    return {
      storages: storages.toSorted((a, b) => a.number - b.number).slice(0, SHOWN_STORAGES),
      heaps,
      heldBytes: own.reduce((sum, { byteLength }) => sum + byteLength, 0),
    };
  }

  #numberOf(storage: StorageValue): number {
    const number = this.#numbers.get(storage) ?? this.#next++;
    this.#numbers.set(storage, number);
    return number;
  }
}

/** Values of registers and their parts, each part with the register that it is reached from. */
function* heldValues(frames: readonly Frame[]) {
  let walked = 0;
  for (let depth = frames.length - 1; depth >= 0; depth--) {
    const frame = frames.length - 1 - depth;
    for (const [register, held] of (frames[depth]?.registers ?? []).entries()) {
      const seen = new Set<Value>();
      const pending: Value[] = [held];
      for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
        if (value === null || seen.has(value) || ++walked > WALKED_VALUES) continue;
        yield { value, frame, register };
        const parts = partsOf(value);
        if (parts.length > 0) seen.add(value);
        for (const part of parts.slice(0, WALKED_VALUES)) pending.push(part);
      }
    }
  }
}

function storageOf(value: Value): StorageValue | undefined {
  if (value instanceof TensorValue) return value.storage;
  return kindOf(value) === 'storage' ? (value as StorageValue) : undefined;
}

function rangeIn(storage: StorageValue, value: Value) {
  if (!(value instanceof TensorValue)) {
    return { byteOffset: 0, byteLength: storage.byteLength, text: describeValue(value) };
  }
  const byteOffset = value.byteOffset - storage.byteOffset;
  return { byteOffset, byteLength: value.byteLength, text: describeValue(value) };
}
