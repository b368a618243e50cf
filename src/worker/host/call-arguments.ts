import { UsageError } from '../../core/errors.ts';
import { foldValues } from '../../core/contracts/value-fold.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { HostInput } from '../../runtime/link/host-function.ts';
import { AdtValue, type Value } from '../../runtime/values/value.ts';
import type { VirtualMachine } from '../../runtime/virtual-machine.ts';
import type { FunctionInfo } from '../protocol/loaded-session.ts';
import type { HandleId } from '../protocol/reply.ts';
import type { RunRequest } from '../protocol/run-request.ts';
import {
  type CallPage,
  WIRE_SIDE,
  type WireForms,
  type WireValue,
} from '../protocol/wire-value.ts';
import type { HeldValues } from './held-values.ts';
import { HOST_FORMS } from './host-forms.ts';
import type { CallingSession } from './page-functions.ts';
import { PageObject } from './page-object.ts';
import type { SharedUse } from './shared-use.ts';

export type ArgumentRequest = Pick<RunRequest, 'args'> &
  Partial<Pick<RunRequest, 'functionName' | 'donate'>>;

/** The session that is called, and the page that calls. */
export interface ArgumentContext {
  readonly session: CallingSession & {
    readonly machine: VirtualMachine;
    readonly functions: readonly FunctionInfo[];
    readonly shared: SharedUse | undefined;
    /** What calls wait for before they begin. */
    readonly ready: Promise<unknown> | undefined;
  };
  readonly callPage?: CallPage | undefined;
}

/** `take` gives the positions of arguments that the call takes over from then on. */
export type WithInputs<T> = (
  args: readonly HostInput[],
  take: () => readonly number[],
) => Promise<T>;

/**
 * Takes the arguments before anything is awaited: a handle that is disposed of right after the
 * call is still good for it. The call then owns tensors that came with it, and those that the
 * page donates. A session that shares its device keeps the latter to the end, since the run may
 * start again. Rejects with UsageError or DeviceLostError for handles of what is not there any more.
 */
export async function withArguments<T>(
  context: ArgumentContext,
  request: ArgumentRequest,
  call: WithInputs<T>,
): Promise<T> {
  const { session } = context;
  const live: Value[] = [];
  const owners: HeldValues[] = [];
  const owned = new Map<number, Value>();
  const toInput = inputReader(context, live, owners);
  const take = (): readonly number[] => {
    const positions = [...owned.keys()];
    owned.clear();
    return positions;
  };
  const donated = donatedBy(request, session.functions);
  const releaseDonated = (): void => {
    for (const handle of donated.values()) session.held.releaseOfAny(handle);
  };
  try {
    const args = request.args.map((arg, index) => {
      const input = toInput(arg);
      const isOwned = arg.kind === 'tensor' || (donated.has(index) && !session.shared);
      if (isOwned) owned.set(index, live.pop() ?? null);
      return input;
    });
    if (!session.shared) releaseDonated();
    if (session.ready !== undefined) await session.ready;
    const result = await call(args, take);
    releaseDonated();
    return result;
  } finally {
    for (const value of [...live, ...owned.values()]) session.machine.release(value);
    for (const owner of owners) owner.removeReader();
  }
}

/** Adds what it retains to `live`, and the owners of tensors of other sessions to `owners`. */
function inputReader(
  { session, callPage }: ArgumentContext,
  live: Value[],
  owners: HeldValues[],
): (wire: WireValue) => HostInput {
  const hold = <T extends Value>(value: T): T => {
    live.push(value);
    return value;
  };
  const retained = <T extends Value>(value: T): T => {
    session.machine.retain(value);
    return hold(value);
  };
  const { int, float, string, shape } = HOST_FORMS;
  return foldValues<WireForms, HostInput>(WIRE_SIDE, {
    // One by one: to spread them takes longer than all else here.
    null: () => null,
    int,
    float,
    string,
    shape,
    tensor: (wire) =>
      hold(session.machine.tensor(new HostTensor(wire.dtype, wire.shape, wire.data))),
    handle: ({ handle }) => retained(session.held.tensor(handle, owners)),
    closure: ({ handle }) => retained(session.held.function(handle).value),
    // It may be called after the run, by what the run returned.
    packed: ({ name, call: page = callPage }) => {
      if (page === undefined) throw new UsageError(`The page gave no function ${name}.`);
      return async (...args: readonly Value[]) => {
        const { callFunction } = await import('./page-functions.ts');
        return callFunction(name, args, { callPage: page, session });
      };
    },
    opaque: (wire) => new PageObject(wire, callPage),
    adt: ({ tag, name }, fields) => {
      if (name === '') return fields;
      if (name !== undefined) return { constructor: name, fields };
      return retained(new AdtValue(tag, fields as readonly Value[]));
    },
  });
}

/** Handles by the positions of parameters that a request donates. */
function donatedBy(
  { args, donate = [], functionName }: ArgumentRequest,
  functions: readonly FunctionInfo[],
): ReadonlyMap<number, HandleId> {
  const params = functions.find(({ name }) => name === functionName)?.params ?? [];
  const donated = new Map<number, HandleId>();
  for (const [index, arg] of args.entries()) {
    const isDonated = donate.includes(params[index]?.name ?? '');
    if (arg.kind === 'handle' && isDonated) donated.set(index, arg.handle);
  }
  return donated;
}
