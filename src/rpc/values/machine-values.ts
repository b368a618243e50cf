import { UnsupportedError, UsageError } from '../../core/errors.ts';
import { foldParts, foldValues } from '../../core/contracts/value-fold.ts';
import { readTensors } from '../../runtime/values/tensor-read.ts';
import {
  AdtValue,
  ClosureValue,
  describeValue,
  FloatValue,
  type MachineValue,
  type PackedFunction,
  PackedFunctionValue,
  release,
  retain,
  TensorValue,
  type Value,
} from '../../runtime/values/value.ts';
import {
  RPC_SIDE,
  type RpcForms,
  type RpcFunction,
  RpcTuple,
  type RpcValue,
  type TensorHandle,
} from './rpc-value.ts';
import { defineTarget } from '../targets.ts';
import { toRpcValue } from './to-rpc-value.ts';
import { valueOf } from './wire-values.ts';
import { MACHINE_SIDE, type MachineForms } from '../../runtime/machine-side.ts';
import type { HostFunction } from '../../runtime/link/host-function.ts';

/** A tensor of a machine of this side, held for the other one. */
export class LocalTensor implements TensorHandle {
  readonly kind = 'tensor handle';
  readonly value: TensorValue;
  #isReleased = false;

  constructor(value: TensorValue) {
    this.value = value;
    retain(value);
  }

  get dtype() {
    return this.value.dtype;
  }

  get shape() {
    return this.value.shape;
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    release(this.value);
  }
}

/** The machine in which values are made; known only after it was created. */
type MachineOf = () => MachineValue;

/** The value of a machine that a function stands for. */
const ORIGINS = new WeakMap<RpcFunction, ClosureValue | PackedFunctionValue>();

/**
 * Values of a machine as they cross a connection: tensors read in one round trip for each device, or
 * with `keep` as handles. Functions of the machine are held until they are released.
 */
export async function fromMachine(
  values: readonly Value[],
  { keep = false, machine }: { readonly keep?: boolean; readonly machine: MachineOf },
): Promise<RpcValue[]> {
  const tensors = tensorsIn(values);
  const contents = keep
    ? tensors.map((tensor) => new LocalTensor(tensor))
    : await readTensors(tensors);
  const made = new Map(tensors.map((tensor, index) => [tensor, contents[index] ?? null]));
  const same = <T extends RpcValue>(value: T): T => value;
  const callable = (value: ClosureValue | PackedFunctionValue): RpcFunction =>
    functionOf(value, machine);
  const convert = foldValues<MachineForms, RpcValue>(MACHINE_SIDE, {
    null: same,
    int: same,
    float: same,
    string: same,
    dtype: same,
    shape: same,
    tensor: (tensor) => made.get(tensor) ?? null,
    adt: ({ tag }, fields) => new RpcTuple(fields, tag),
    closure: callable,
    packed: callable,
    opaque: ({ name }) => refuseNamed(`an opaque ${JSON.stringify(name)}`),
    storage: refuse,
    heap: refuse,
    vm: refuse,
  });
  return values.map(convert);
}

function refuse(value: Value): never {
  return refuseNamed(`a ${describeValue(value)}`);
}

function refuseNamed(got: string): never {
  throw new UnsupportedError({
    where: 'remote call',
    got,
    expected: 'a number, string, shape, tensor, function, tuple or ADT value',
  });
}

function tensorsIn(values: readonly Value[]): TensorValue[] {
  const found = new Set<TensorValue>();
  const visit = foldParts(MACHINE_SIDE.partsOf, (value) => {
    if (value instanceof TensorValue) found.add(value);
  });
  for (const value of values) visit(value);
  return [...found];
}

/** A closure or packed function as a function that can be called from afar. */
function functionOf(value: ClosureValue | PackedFunctionValue, machine: MachineOf): RpcFunction {
  const home = value instanceof ClosureValue ? () => value.machine : machine;
  const name = value instanceof ClosureValue ? 'closure' : value.name;
  // Takes the reference that is dropped when the other side releases the function.
  const invoke = value instanceof ClosureValue ? value.machine.toFunction(value) : undefined;
  const run = async (args: readonly Value[]): Promise<Value> => {
    if (invoke !== undefined) return invoke(...args);
    const result = await (value as PackedFunctionValue).call(...args);
    retain(result);
    return result;
  };
  const callee: RpcFunction = async (...args) => call(args, false);
  const call = async (args: readonly RpcValue[], keep: boolean): Promise<RpcValue> =>
    callMachine(args, { machine: home, keep, run });
  ORIGINS.set(callee, value);
  return defineTarget(callee, {
    name,
    ownsResults: true,
    call: (args, { keep }) => call(args.map(valueOf), keep),
    release: () => invoke !== undefined && release(value),
  });
}

interface MachineCall {
  readonly machine: MachineOf;
  readonly keep: boolean;
  /** The caller owns a reference to the result. */
  readonly run: (args: readonly Value[]) => Promise<Value>;
}

/** Uploads arguments, calls, and brings the result back. */
export async function callMachine(
  args: readonly RpcValue[],
  { machine, keep, run }: MachineCall,
): Promise<RpcValue> {
  const borrowed = toMachine(args, machine());
  let result: Value;
  try {
    result = await run(borrowed.values);
  } finally {
    borrowed.release();
  }
  try {
    const [value = null] = await fromMachine([result], { keep, machine });
    return value;
  } finally {
    release(result);
  }
}

/** Values that are held until they are released. */
interface BorrowedValues {
  readonly values: readonly Value[];
  release(): void;
}

/** Values in a machine, with one reference each. */
export function toMachine(args: readonly RpcValue[], machine: MachineValue): BorrowedValues {
  const held: Value[] = [];
  const drop = (): void => {
    for (const value of held.splice(0)) release(value);
  };
  try {
    const values = args.map((arg) => {
      const value = build(arg, machine, held);
      if (value instanceof AdtValue) {
        retain(value);
        held.push(value);
      }
      return value;
    });
    return { values, release: drop };
  } catch (error) {
    drop();
    throw error;
  }
}

/** A value as packed functions return it: made for the caller, who has not counted it yet. */
function toFreshValue(arg: RpcValue, machine: MachineValue): Value {
  const held: Value[] = [];
  try {
    const value = build(arg, machine, held);
    if (value instanceof TensorValue && held.pop() !== undefined) {
      // Not released, which would free it: the register that takes it counts it.
      value.storage.references--;
    }
    return value;
  } finally {
    for (const value of held) release(value);
  }
}

/** Tensors that were uploaded are put into `held`. */
function build(arg: RpcValue, machine: MachineValue, held: Value[]): Value {
  const convert = foldValues<RpcForms, Value>(RPC_SIDE, {
    null: () => null,
    int: (value) => value,
    float: (value) => (typeof value === 'number' ? new FloatValue(value) : value),
    string: (value) => value,
    dtype: (value) => value,
    shape: (value) => value,
    tensor: (value) => {
      const uploaded = machine.tensor(value);
      held.push(uploaded);
      return uploaded;
    },
    handle: (value) => {
      if (value instanceof LocalTensor) return value.value;
      throw elsewhere();
    },
    adt: ({ tag }, fields) => new AdtValue(tag, fields),
    packed: (callee) => {
      const origin = ORIGINS.get(callee);
      if (origin instanceof ClosureValue && origin.machine === machine) return origin;
      const call = packedFunction(callee, () => machine);
      return new PackedFunctionValue(callee.name, call);
    },
  });
  return convert(arg);
}

function elsewhere(): UnsupportedError {
  return new UnsupportedError({
    where: 'remote call',
    got: 'a tensor that lives on another side',
    expected: 'a tensor of this side, or one by value',
    remedy: 'Read it first: `await tensor.read()`.',
  });
}

/**
 * A function that a machine calls, which may live on another side. It gets tensors by value; a machine
 * among the arguments, which programs pass to functions of their own page, is left out.
 */
export function packedFunction(callee: RpcFunction, machine: MachineOf): PackedFunction {
  return async (...args) => {
    const passed = args.filter((arg) => !isMachine(arg));
    const values = await fromMachine(passed, { machine });
    return toFreshValue(toRpcValue(await callee(...values)), machine());
  };
}

export function isMachine(value: Value): value is MachineValue {
  return typeof value === 'object' && value !== null && value.kind === 'vm';
}

/**
 * A remote function as a packed function, for option `functions` of a session or a machine: the
 * program then calls a function that lives on another device. Its arguments are read and sent, its
 * result is uploaded. The program passes `%vm` first, as to every function that makes tensors; it
 * is not sent.
 */
export function linkRemote(callee: RpcFunction): HostFunction {
  const name = callee.name === '' ? 'a remote function' : callee.name;
  return async (...args: Value[]) => {
    const [machine] = args;
    const isFirst = machine !== undefined && isMachine(machine);
    const home = (): MachineValue => {
      if (isFirst) return machine;
      throw new UsageError({
        where: name,
        got: 'a call without %vm whose result holds tensors',
        expected: 'the machine as first argument',
        remedy: 'Let the program pass %vm first.',
      });
    };
    return packedFunction(callee, home)(...args);
  };
}
