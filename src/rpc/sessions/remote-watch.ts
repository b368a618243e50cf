import type { ExecutableData } from '../../bytecode/executable.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { OnWatchedCall, WatchedRun, WatchOptions } from '../../runtime/compare/watched-run.ts';
import { notForBoth } from '../../worker/host/read-arguments.ts';
import type { HandleId, SessionId } from '../../worker/protocol/reply.ts';
import type { WireTensor, WireValue } from '../../worker/protocol/wire-value.ts';
import type { WatchedProgram } from '../../worker/tools/tool.ts';
import { hostTensor, listOf, optional, record, text } from '../values/checked-values.ts';
import { callWithData, isRemoteFunction } from '../values/remote-handles.ts';
import { malformed } from '../values/wire-values.ts';
import { codePlace } from './checked-values.ts';
import type { SessionDoor } from './session-door.ts';

/** A session on a served device whose kernels are watched from this side. */
export interface WatchedRemote {
  readonly door: SessionDoor;
  readonly session: SessionId;
  readonly executable: ExecutableData;
  /** Opens a session of another program on the same device. */
  readonly open: (program: Uint8Array, signal: AbortSignal | undefined) => Promise<SessionId>;
  readonly read: (handle: HandleId) => Promise<WireTensor>;
  readonly args: readonly WireValue[];
  readonly signal: AbortSignal;
}

/** Its program, for tools of this side. */
export function watchRemote(remote: WatchedRemote): WatchedProgram {
  const { door, executable, session, args, signal } = remote;
  return {
    executable,
    signal,
    run: () => new RemoteRun(door, session, args),
    runOf: (program, inputs) => ({
      run: async (onCall, options) => {
        const beside = await remote.open(program.toBytes(), options.signal);
        try {
          const wires = inputs.map(
            ({ dtype, shape, data }): WireTensor => ({ kind: 'tensor', dtype, shape, data }),
          );
          await new RemoteRun(door, beside, wires).run(onCall, options);
        } finally {
          await door.call('dispose', [beside]);
        }
      },
    }),
    exclude: (work) => work(),
    readArguments: () => readArguments(remote),
    readConstants: () => readConstants(remote),
  };
}

const TENSORS = listOf(hostTensor);
const CALL = optional(
  record({ kernel: text, at: optional(codePlace), results: optional(TENSORS) }),
);

/** A watched run on a served device, which goes on from kernel to kernel as this side orders. */
class RemoteRun implements WatchedRun {
  readonly #door: SessionDoor;
  readonly #session: SessionId;
  readonly #args: readonly WireValue[];

  constructor(door: SessionDoor, session: SessionId, args: readonly WireValue[]) {
    this.#door = door;
    this.#session = session;
    this.#args = args;
  }

  async run(
    onCall: OnWatchedCall,
    { functionName, keepsInputs, readsResults, signal }: WatchOptions,
  ): Promise<void> {
    const request = { functionName, args: this.#args, keepsInputs };
    const held = await this.#door.call('watch', [this.#session, request], { signal });
    if (!isRemoteFunction(held)) throw malformed('a value that is not a run');
    const order = (...args: unknown[]) => callWithData(held, args, { signal });
    const read = async (name: string) => TENSORS(await order(name), name);
    try {
      for (;;) {
        const next = CALL(await order('next', readsResults), 'call');
        if (next === undefined) return;
        const { kernel, at, results } = next;
        await onCall({
          kernel,
          at,
          results: async () => results ?? read('results'),
          inputs: () => read('inputs'),
        });
      }
    } finally {
      held.release();
    }
  }
}

/** The arguments of a run for a machine of this side. */
function readArguments({ read, args }: WatchedRemote): Promise<(HostTensor | number)[]> {
  return Promise.all(
    args.map(async (arg) => {
      if (arg.kind === 'int') return arg.value;
      if (arg.kind !== 'tensor' && arg.kind !== 'handle') throw notForBoth('verify');
      const { dtype, shape, data } = arg.kind === 'tensor' ? arg : await read(arg.handle);
      return new HostTensor(dtype, shape, data);
    }),
  );
}

/** Bytes of constants that are fetched at a time. */
const FETCHED_BYTES = 16 * 2 ** 20;

/** The constants of the program, as the device has them. */
async function readConstants({
  executable,
  session,
  door,
  signal,
}: WatchedRemote): Promise<ReadonlyMap<number, HostTensor>> {
  const read = new Map<number, HostTensor>();
  let [requested, byteLength]: [number[], number] = [[], 0];
  const fetch = async (): Promise<void> => {
    if (requested.length === 0) return;
    const tensors = TENSORS(
      await door.call('constants', [session, requested], { signal }),
      'constants',
    );
    for (const [i, index] of requested.entries()) {
      read.set(index, expectLike(executable, index, tensors[i]));
    }
    [requested, byteLength] = [[], 0];
  };
  for (const [index, constant] of executable.constants.entries()) {
    if (constant.kind !== 'tensor') continue;
    if (byteLength + constant.byteLength > FETCHED_BYTES) await fetch();
    requested.push(index);
    byteLength += constant.byteLength;
  }
  await fetch();
  return read;
}

function expectLike(
  { constants }: ExecutableData,
  index: number,
  tensor: HostTensor | undefined,
): HostTensor {
  const constant = constants[index];
  const isAlike =
    constant?.kind === 'tensor' &&
    constant.dtype === tensor?.dtype &&
    JSON.stringify(constant.shape) === JSON.stringify(tensor.shape);
  if (isAlike && tensor !== undefined) return tensor;
  throw malformed('a constant of another type than the program has');
}
