import type { ExecutableData } from '../../bytecode/executable.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { CodePlace } from '../../core/contracts/paused-call.ts';
import type { OnWatchedCall, WatchedRun, WatchOptions } from '../../runtime/compare/watched-run.ts';
import type { ControlReply, ControlRequest } from '../../worker/protocol/control-request.ts';
import type { HandleId } from '../../worker/protocol/reply.ts';
import type { WireTensor, WireValue } from '../../worker/protocol/wire-value.ts';
import { measureProgram } from '../../worker/tools/measure-program.ts';
import { notForBoth } from '../../worker/host/read-arguments.ts';
import { traceProgram } from '../../worker/tools/trace-program.ts';
import { verifyProgram } from '../../worker/tools/verify-program.ts';
import type { WatchedProgram } from '../../worker/tools/watched-program.ts';
import { objectOf, textOf, tupleOf } from '../values/checked-values.ts';
import { isRemoteFunction, type RemoteFunction } from '../values/remote-handles.ts';
import { RpcTuple, type RpcValue } from '../values/rpc-value.ts';
import { malformed } from '../values/wire-values.ts';

/** A session on a served device whose kernels are watched from this side. */
export interface WatchedRemote {
  readonly executable: ExecutableData;
  readonly session: RemoteFunction;
  /** Opens a session of another program on the same device. */
  readonly open: (program: Uint8Array, signal: AbortSignal | undefined) => Promise<RemoteFunction>;
  readonly read: (handle: HandleId, signal: AbortSignal) => Promise<WireTensor>;
}

export type WatchRequest = Extract<ControlRequest, { kind: 'trace' | 'verify' | 'ranges' }>;

/** Does on this side what is asked about a run on the other one. `values` are the arguments as they are sent. */
export async function watchRemote(
  remote: WatchedRemote,
  request: WatchRequest,
  { values, signal }: { readonly values: RpcTuple; readonly signal: AbortSignal },
): Promise<ControlReply> {
  const reply: ControlReply = { calls: [], results: [], note: '' };
  const program = watchedProgram(remote, values);
  if (request.kind === 'trace') {
    return { ...reply, ...(await traceProgram(program, request, signal)) };
  }
  const args = await readArguments(remote, request.args, signal);
  if (request.kind === 'ranges') {
    const { session: owner, executable } = remote;
    const measured = { owner, executable, readConstants: () => readConstants(remote, signal) };
    return { ...reply, ranges: await measureProgram(measured, request, { args, signal }) };
  }
  const constants = await readConstants(remote, signal);
  const verified = { ...program, constants, args };
  return { ...reply, verification: await verifyProgram(verified, request, signal) };
}

function watchedProgram(
  { executable, session, open }: WatchedRemote,
  args: RpcTuple,
): WatchedProgram {
  return {
    executable,
    run: new RemoteRun(session, args),
    runOf: (program, inputs) => ({
      run: async (onCall, options) => {
        const beside = await open(program.toBytes(), options.signal);
        try {
          await new RemoteRun(beside, new RpcTuple(inputs)).run(onCall, options);
        } finally {
          beside.release();
        }
      },
    }),
  };
}

/** A watched run on a served device, which goes on from kernel to kernel as this side orders. */
class RemoteRun implements WatchedRun {
  readonly #session: RemoteFunction;
  readonly #args: RpcTuple;

  constructor(session: RemoteFunction, args: RpcTuple) {
    this.#session = session;
    this.#args = args;
  }

  async run(
    onCall: OnWatchedCall,
    { functionName, keepsInputs, readsResults, signal }: WatchOptions,
  ): Promise<void> {
    const asked = ['watch', functionName, this.#args, keepsInputs ? 1 : 0] as const;
    const held = await this.#session.invoke(asked, { signal });
    if (!isRemoteFunction(held)) throw malformed('a value that is not a run');
    const read = async (order: string) => tensorsOf(await held.invoke([order], { signal }));
    try {
      for (;;) {
        const next = await held.invoke(['next', readsResults ? 1 : 0], { signal });
        if (next === null) return;
        const [kernel, at, given = null] = tupleOf(next).fields;
        const results = given === null ? undefined : tensorsOf(given);
        await onCall({
          kernel: textOf(kernel),
          at: placeOf(at),
          results: async () => results ?? read('results'),
          inputs: () => read('inputs'),
        });
      }
    } finally {
      held.release();
    }
  }
}

function placeOf(value: RpcValue | undefined): CodePlace | undefined {
  if (value === null) return undefined;
  const { function: name, instruction } = objectOf(value);
  if (typeof name === 'string' && typeof instruction === 'number') {
    return { function: name, instruction };
  }
  throw malformed('a place that is none');
}

function tensorsOf(value: RpcValue): readonly HostTensor[] {
  return tupleOf(value).fields.map((field) => {
    if (field instanceof HostTensor) return field;
    throw malformed('a value that is not a tensor');
  });
}

/** The arguments of a run for a machine of this side. */
function readArguments(
  { read }: WatchedRemote,
  args: readonly WireValue[],
  signal: AbortSignal,
): Promise<(HostTensor | number)[]> {
  return Promise.all(
    args.map(async (arg) => {
      if (arg.kind === 'int') return arg.value;
      if (arg.kind !== 'tensor' && arg.kind !== 'handle') throw notForBoth('verify');
      const { dtype, shape, data } = arg.kind === 'tensor' ? arg : await read(arg.handle, signal);
      return new HostTensor(dtype, shape, data);
    }),
  );
}

/** Bytes of constants that are fetched at a time. */
const FETCHED_BYTES = 16 * 2 ** 20;

/** The constants of the program, as the device has them. */
async function readConstants(
  { executable, session }: WatchedRemote,
  signal: AbortSignal,
): Promise<ReadonlyMap<number, HostTensor>> {
  const read = new Map<number, HostTensor>();
  let [asked, byteLength]: [number[], number] = [[], 0];
  const fetch = async (): Promise<void> => {
    if (asked.length === 0) return;
    const answer = await session.invoke(['constants', JSON.stringify({ indices: asked })], {
      signal,
    });
    const tensors = tensorsOf(answer);
    for (const [i, index] of asked.entries()) {
      read.set(index, expectLike(executable, index, tensors[i]));
    }
    [asked, byteLength] = [[], 0];
  };
  for (const [index, constant] of executable.constants.entries()) {
    if (constant.kind !== 'tensor') continue;
    if (byteLength + constant.byteLength > FETCHED_BYTES) await fetch();
    asked.push(index);
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
