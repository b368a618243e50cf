import type { ExecutableData } from '../../bytecode/executable.ts';
import { ByteWriter } from '../../core/bytes/byte-writer.ts';
import { dtypeInfo } from '../../core/tensor/dtype.ts';
import { UnsupportedError } from '../../core/errors.ts';
import type { Shape } from '../../core/tensor/shape.ts';
import { foldValues, type ValueCases } from '../../core/contracts/value-fold.ts';
import type { MachineInternals } from '../link/load-machine.ts';
import { PitchedTensor } from '../values/pitched-tensor.ts';
import { type ClosureValue, type StorageValue, TensorValue, type Value } from '../values/value.ts';
import { type EntryKind, OperandCode, ValueCode } from './snapshot-format.ts';
import { MACHINE_SIDE, type MachineForms } from '../machine-side.ts';

/** The reference to an entry of the table. */
interface Entry {
  readonly index: number;
}

/** The entry for a value in a register or field. */
type Operand = null | number | string | Entry;

/**
 * Writes values to a table in which each object stands once, after everything it refers to: what
 * was shared stays shared. Values form no cycles, because they are immutable once made.
 */
export class ValueWriter {
  /** Entries, without their number. */
  readonly entries = new ByteWriter();
  /** Storages that were entered, in the order of their entries. */
  readonly storages: StorageValue[] = [];
  /** Names of packed functions that are not in the function table. */
  readonly functionNames: string[] = [];
  count = 0;
  readonly #internals: MachineInternals;
  readonly #tableFunctions: ReadonlyMap<Value, number>;
  readonly #constants: readonly TensorValue[];
  readonly #enter: (value: Value) => Operand;

  constructor(internals: MachineInternals, program: ExecutableData) {
    this.#internals = internals;
    const { constants } = internals.linked;
    const first = firstFunction(program);
    const functions = constants.slice(first, first + program.functionTable.length);
    this.#tableFunctions = new Map(functions.map((value, index) => [value, index]));
    this.#constants = internals.constants.values.filter((value) => value instanceof TensorValue);
    const partsOf = (value: Value) => this.#partsOf(value);
    this.#enter = foldValues({ ...MACHINE_SIDE, partsOf }, this.#cases());
  }

  /** Writes a reference to a value, which is entered with all that it refers to unless it was before. */
  operand(w: ByteWriter, value: Value): void {
    writeOperand(w, this.#enter(value));
  }

  /** Writes how many values there are, then each as {@link operand} does. */
  operands(w: ByteWriter, values: readonly Value[]): void {
    writeOperands(w, values.map(this.#enter));
  }

  #partsOf(value: Value): readonly Value[] | undefined {
    if (typeof value !== 'object' || value === null) return undefined;
    if (value.kind === 'adt') return value.fields;
    if (value.kind === 'tensor') return value.storage.isReadOnly ? [] : [value.storage];
    if (value.kind !== 'closure' || this.#tableFunctions.has(value)) return [];
    return typeof value.target === 'number' ? value.captured : [...value.captured, value.target];
  }

  #cases(): ValueCases<MachineForms, Operand> {
    return {
      null: () => null,
      int: (value) => value,
      string: (value) => value,
      float: ({ value }) => this.#entry('float', (w) => w.f64(value)),
      dtype: ({ dtype }) => this.#entry('dtype', (w) => w.u8(dtypeInfo(dtype).code)),
      shape: ({ dims }) => this.#entry('shape', (w) => writeShape(w, dims)),
      storage: (value) => this.#storage(value),
      tensor: (value, [storage]) => this.#tensor(value, storage),
      adt: ({ tag }, fields) => this.#entry('adt', (w) => writeOperands(w.i64(tag), fields)),
      closure: (value, parts) => this.#tableFunction(value) ?? this.#closure(value, parts),
      packed: (value) =>
        this.#tableFunction(value) ??
        this.#entry('packed', (w) => w.u32(this.functionNames.push(value.name) - 1)),
      opaque: ({ name }) => {
        throw new UnsupportedError({
          where: 'snapshot',
          got: `a call that holds the opaque value ${JSON.stringify(name)}`,
          expected: 'values that can be stored',
          remedy: 'Let the call end first, or keep a key in the program in place of the object.',
        });
      },
      heap: ({ slots }) =>
        this.#entry('heap', (w) => {
          w.u32(slots.length);
          for (const slot of slots) w.f64(slot);
        }),
      vm: () => this.#entry('vm', () => undefined),
    };
  }

  #entry(kind: EntryKind, write: (w: ByteWriter) => unknown): Entry {
    write(this.entries.u8(ValueCode[kind]));
    return { index: this.count++ };
  }

  #tableFunction(value: Value): Entry | undefined {
    const index = this.#tableFunctions.get(value);
    return index === undefined ? undefined : this.#entry('tableFunction', (w) => w.u32(index));
  }

  #storage(storage: StorageValue): Entry {
    const { allocators } = this.#internals.state;
    const device = allocators.findIndex((allocator) => allocator.device === storage.device);
    if (device < 0) throw elsewhere('a storage of another machine');
    this.storages.push(storage);
    return this.#entry('storage', (w) => w.u8(device).i64(storage.byteLength));
  }

  #pitched(tensor: PitchedTensor, { index }: Entry): Entry {
    const { axis } = tensor.pitch;
    return this.#entry('pitched', (w) => {
      writeView(w.u32(index), tensor.whole(), tensor.storage.byteOffset);
      w.u32(axis).i64(tensor.shape[axis] ?? 0);
    });
  }

  #tensor(tensor: TensorValue, storage: Operand | undefined): Entry {
    if (typeof storage === 'object' && storage !== null) {
      if (tensor instanceof PitchedTensor) return this.#pitched(tensor, storage);
      return this.#entry('tensor', (w) =>
        writeView(w.u32(storage.index), tensor, tensor.storage.byteOffset),
      );
    }
    const index = this.#constantOf(tensor);
    const begin = this.#constants[index]?.byteOffset ?? 0;
    return this.#entry('constant', (w) => writeView(w.u32(index), tensor, begin));
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

  #closure({ machine, target, captured }: ClosureValue, parts: readonly Operand[]): Entry {
    const isOwn = typeof target !== 'number' || machine === this.#internals.linked.machine;
    if (!isOwn) throw elsewhere('a closure of another machine');
    return this.#entry('closure', (w) => {
      writeOperand(w, typeof target === 'number' ? target : (parts[captured.length] ?? null));
      writeOperands(w, parts.slice(0, captured.length));
    });
  }
}

function writeOperand(w: ByteWriter, operand: Operand): void {
  if (operand === null) w.u8(OperandCode.null);
  else if (typeof operand === 'number') w.u8(OperandCode.int).i64(operand);
  else if (typeof operand === 'string') writeText(w.u8(OperandCode.string), operand);
  else w.u8(OperandCode.value).u32(operand.index);
}

function writeOperands(w: ByteWriter, operands: readonly Operand[]): void {
  w.u32(operands.length);
  for (const operand of operands) writeOperand(w, operand);
}

/** Where the functions of the function table begin among the constants of linked code. */
export function firstFunction({ constants }: ExecutableData): number {
  return constants.length + 2;
}

function writeView(w: ByteWriter, { byteOffset, dtype, shape }: TensorValue, begin: number): void {
  writeShape(w.i64(byteOffset - begin).u8(dtypeInfo(dtype).code), shape);
}

function writeShape(w: ByteWriter, shape: Shape): void {
  w.u32(shape.length);
  for (const dim of shape) w.i64(dim);
}

/** UTF-16, because a string of JavaScript need not be well-formed. */
function writeText(w: ByteWriter, text: string): void {
  w.u32(text.length);
  for (let i = 0; i < text.length; i++) w.u16(text.charCodeAt(i));
}

function elsewhere(got: string): UnsupportedError {
  return new UnsupportedError({
    where: 'snapshot',
    got,
    expected: 'values of the machine that is stored',
    remedy: 'Read the tensor and upload it with vm.tensor, or pass a JS function.',
  });
}
