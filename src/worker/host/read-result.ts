import type { FullType } from '../../bytecode/executable.ts';
import { foldValues } from '../../core/contracts/value-fold.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import { MACHINE_SIDE, type MachineForms } from '../../runtime/machine-side.ts';
import {
  AdtValue,
  ClosureValue,
  PackedFunctionValue,
  type TensorValue,
  type Value,
} from '../../runtime/values/value.ts';
import type { VirtualMachine } from '../../runtime/virtual-machine.ts';
import type { SharedDevice } from '../devices/device-pool.ts';
import type { RunRequest } from '../protocol/run-request.ts';
import type { WireResult, WireTensor, WireValue } from '../protocol/wire-value.ts';
import type { FunctionValue } from './held-functions.ts';
import type { HeldValues } from './held-values.ts';
import { PageObject } from './page-object.ts';
import type { RefusedValue } from './refused-result.ts';

/** Limits of a result for a page: messages must not exhaust stack or memory of a thread. */
const MAX_RESULT_COUNT = 1 << 16;
const MAX_RESULT_DEPTH = 1000;

type TensorToWire = (tensor: TensorValue) => WireValue;

/** A result whose tensors have not been read or kept yet. */
interface ResultDraft {
  /** Values that a page gets: each as often as it is met, since messages may not share them. */
  readonly count: number;
  readonly depth: number;
  readonly finish: (toWire: TensorToWire) => WireValue;
}

interface WholeDraft extends ResultDraft {
  readonly tensors: readonly TensorValue[];
}

/**
 * Results for a page, up to their tensors; `names` are the constructors of data. Functions are kept, where the page
 * takes any. Rejects with UsageError for what a page cannot take.
 */
export async function draftsOf(
  results: readonly Value[],
  names?: ReadonlyMap<Value, string>,
  keepFunction?: (value: FunctionValue) => WireValue,
): Promise<readonly WholeDraft[]> {
  let tensors = new Set<TensorValue>();
  let refused: RefusedValue | undefined = undefined as RefusedValue | undefined;
  const leaf = (wire: WireValue): ResultDraft => ({ count: 1, depth: 0, finish: () => wire });
  const refuse = (value: RefusedValue): ResultDraft => {
    refused ??= value;
    return leaf({ kind: 'null' });
  };
  const takeFunction = (value: FunctionValue): ResultDraft =>
    keepFunction === undefined
      ? refuse(value)
      : { count: 1, depth: 0, finish: () => keepFunction(value) };
  const draftOf = foldValues<MachineForms, ResultDraft>(MACHINE_SIDE, {
    null: () => leaf({ kind: 'null' }),
    int: (value) => leaf({ kind: 'int', value }),
    float: ({ value }) => leaf({ kind: 'float', value }),
    string: (value) => leaf({ kind: 'string', value }),
    shape: ({ dims }) => leaf({ kind: 'shape', value: dims }),
    tensor: (tensor) => {
      tensors.add(tensor);
      return { count: 1, depth: 0, finish: (toWire) => toWire(tensor) };
    },
    adt: (value, fields) => ({
      count: fields.reduce((sum, { count }) => sum + count, 1),
      depth: fields.reduce((most, { depth }) => Math.max(most, depth + 1), 0),
      finish: (toWire) => ({
        kind: 'adt',
        tag: value.tag,
        ...nameOf(names?.get(value)),
        fields: fields.map((field) => field.finish(toWire)),
      }),
    }),
    dtype: refuse,
    closure: takeFunction,
    packed: takeFunction,
    opaque: (value) => (value instanceof PageObject ? leaf(value.wire) : refuse(value)),
    storage: refuse,
    heap: refuse,
    vm: refuse,
  });
  const drafts = results.map((result) => {
    tensors = new Set();
    const draft = draftOf(result);
    return { ...draft, tensors: [...tensors] };
  });
  const count = drafts.reduce((sum, one) => sum + one.count, 0);
  if (count > MAX_RESULT_COUNT || drafts.some(({ depth }) => depth > MAX_RESULT_DEPTH)) {
    refused = 'values';
  }
  if (refused !== undefined) {
    const { refusedResult } = await import('./refused-result.ts');
    throw refusedResult(refused, MAX_RESULT_COUNT, MAX_RESULT_DEPTH);
  }
  return drafts;
}

function nameOf(name: string | undefined): { name?: string } {
  return name === undefined ? {} : { name };
}

interface ResultSession {
  readonly machine: VirtualMachine;
  readonly device: SharedDevice;
  readonly held: HeldValues;
}

/** The names of the results of a function, and the type of what it gives. */
export interface ResultForm {
  readonly names: readonly string[];
  readonly type: FullType | undefined;
}

/**
 * Reads what a function returned, as far as the page does not keep it on the device. The function that it resolves to makes the
 * handles: behind an abort nobody would drop them.
 */
export async function readResult(
  { machine, device, held }: ResultSession,
  { names, type }: ResultForm,
  result: Value,
  { keep = 'host', room }: Pick<RunRequest, 'keep' | 'room'>,
): Promise<() => WireResult[]> {
  const parts =
    names.length === 1 ? [result] : result instanceof AdtValue ? result.fields : [result];
  const functions = parts.some(mayHaveFunctions) ? await import('./held-functions.ts') : undefined;
  const types = functions?.resultTypes(machine.executable.types, result, type);
  // Before a handle is made: nobody would drop those of a result that cannot be delivered.
  const drafts = await draftsOf(
    parts,
    types?.names,
    functions &&
      ((value) => held.holdFunction(value, types?.functions.get(value), functions.newHeld)),
  );
  const isKept = names.map((name) =>
    typeof keep === 'string' ? keep === 'device' : keep.includes(name),
  );
  const tensors = [...new Set(drafts.flatMap((draft, i) => (isKept[i] ? [] : draft.tensors)))];
  // Nobody waits for what is kept; the device is to begin with it all the same.
  if (tensors.length === 0) device.device.flush();
  const read = tensors.length === 0 ? [] : await machine.read(tensors, room);
  const hosts = new Map(tensors.map((tensor, index) => [tensor, read[index]]));
  const make = (name: string, index: number): WireResult => {
    const toWire = (tensor: TensorValue): WireValue => {
      const host = isKept[index] ? undefined : hosts.get(tensor);
      return host === undefined ? held.hold(tensor) : toWireTensor(host);
    };
    return { name, value: drafts[index]?.finish(toWire) ?? { kind: 'null' } };
  };
  return () => held.holdAll(() => names.map(make));
}

export function toWireTensor({ dtype, shape, data }: HostTensor): WireTensor {
  return { kind: 'tensor', dtype, shape, data };
}

const mayHaveFunctions = (value: Value): boolean =>
  value instanceof AdtValue ||
  value instanceof ClosureValue ||
  value instanceof PackedFunctionValue;
