import { allocate } from '../../core/bytes/allocate.ts';
import { dtypeInfo, type TypedArray } from '../../core/tensor/dtype.ts';
import { foldParts, foldValues } from '../../core/contracts/value-fold.ts';
import type { FunctionInfo } from '../../worker/protocol/loaded-session.ts';
import type { HandleId } from '../../worker/protocol/reply.ts';
import {
  WIRE_SIDE,
  type WireForms,
  type WireResult,
  type WireValue,
} from '../../worker/protocol/wire-value.ts';
import { DeviceTensor, type HandleOwner } from './device-tensor.ts';
import type { BoundValue } from './input-value.ts';
import { LEAST_ROOM, SPARE_MEMORY, type SpareMemory } from './spare-memory.ts';
import type { OutputValue } from './session-value.ts';
import { Tensor } from './tensor.ts';

export interface WireArguments {
  readonly args: readonly WireValue[];
  readonly transfers: Transferable[];
}

interface ToWireOptions {
  readonly move?: boolean | undefined;
  /** Memory that the copies take. Default: that of the page. */
  readonly memory?: SpareMemory;
}

/** Copies the data of bound inputs, or with `move` hands it over. */
export function toWire(
  info: FunctionInfo,
  values: readonly BoundValue[],
  { move = false, memory = SPARE_MEMORY }: ToWireOptions = {},
): WireArguments {
  const args = values.map((value, index): WireValue => {
    if (typeof value === 'string') return { kind: 'string', value };
    if (typeof value === 'number') {
      const isInt = info.params[index]?.dtype !== 'float' && Number.isSafeInteger(value);
      return { kind: isInt ? 'int' : 'float', value };
    }
    if ('wire' in value) return value.wire;
    const { dtype, shape } = value;
    if (value instanceof DeviceTensor) {
      return { kind: 'handle', handle: value.handle ?? -1, dtype, shape };
    }
    const { data } = value;
    const canMove = move && data.byteLength > 0 && data.byteLength === data.buffer.byteLength;
    return { kind: 'tensor', dtype, shape, data: canMove ? data : copy(value, memory) };
  });
  const transfers = buffersIn(args);
  // To detach less takes longer than to copy it again.
  if (!move)
    return { args, transfers: transfers.filter((buffer) => buffer.byteLength >= LEAST_ROOM) };
  // Taken now and not when they are posted, so that a call right after this one finds them gone.
  const taken = structuredClone(args, { transfer: transfers });
  return { args: taken, transfers: buffersIn(taken) };
}

function copy({ data, dtype }: Tensor, memory: SpareMemory): TypedArray {
  const spare = memory.take(data.byteLength);
  if (!spare) return allocate(data.byteLength, () => data.slice());
  const target = new (dtypeInfo(dtype).array)(spare, 0, data.length);
  target.set(data as never);
  return target;
}

/** Each buffer once, though two tensors may share it. */
function buffersIn(args: readonly WireValue[]): ArrayBuffer[] {
  const buffers = args.flatMap((arg) => (arg.kind === 'tensor' ? [arg.data.buffer] : []));
  return [...new Set(buffers)].filter((buffer) => buffer instanceof ArrayBuffer);
}

const valueOf = ({ value }: { readonly value: OutputValue }): OutputValue => value;

/** Values without handles, functions and fields, as a page gets them. */
export const PAGE_FORMS = {
  null: () => null,
  int: valueOf,
  float: valueOf,
  string: valueOf,
  shape: valueOf,
  tensor: ({ dtype, data, shape }: WireForms['tensor']): OutputValue =>
    new Tensor(dtype, data, shape),
};

/** Values that a page rarely gets: functions of a program, and objects of its own. */
export type LateForm = WireForms['closure' | 'opaque'];

/** Results by name; undefined where there are functions or objects among them, and nothing that makes them. */
export function fromWire(
  results: readonly WireResult[],
  owner: HandleOwner,
  makeLate?: (value: LateForm) => OutputValue,
): Record<string, OutputValue> | undefined {
  let isLate = false;
  const late = (value: LateForm): OutputValue =>
    makeLate ? makeLate(value) : ((isLate = true), null);
  const outputOf = foldValues<WireForms, OutputValue>(WIRE_SIDE, {
    // One by one: to spread them takes longer than all else here.
    null: PAGE_FORMS.null,
    int: PAGE_FORMS.int,
    float: PAGE_FORMS.float,
    string: PAGE_FORMS.string,
    shape: PAGE_FORMS.shape,
    tensor: PAGE_FORMS.tensor,
    handle: (value) => new DeviceTensor(owner, value.handle, value),
    closure: late,
    opaque: late,
    packed: () => null,
    adt: ({ tag, name: constructor }, fields) =>
      constructor === '' ? fields : constructor ? { constructor, fields } : { tag, fields },
  });
  const outputs = results.map(({ name, value }) => [name, outputOf(value)] as const);
  return isLate ? undefined : Object.fromEntries(outputs);
}

/** The device tensors and functions among results. */
export function handlesIn(results: readonly WireResult[]): HandleId[] {
  const handles: HandleId[] = [];
  const visit = foldParts(WIRE_SIDE.partsOf, (value) => {
    if ('handle' in value) handles.push(value.handle);
  });
  for (const { value } of results) visit(value);
  return handles;
}
