import type { Executable } from '../../bytecode/file/executable-file.ts';
import type { ExecutableData } from '../../bytecode/executable.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { WatchedRun } from '../../runtime/compare/watched-run.ts';
import type { HostInput } from '../../runtime/link/host-function.ts';
import type { Value } from '../../runtime/values/value.ts';
import type { RequestContext } from '../host/hosted-session.ts';
import type { WireResult, WireValue } from '../protocol/wire-value.ts';

export interface ToolContext extends RequestContext {
  /** Values of the request, which live until the reply. */
  readonly args: readonly Value[];
  /** The same as they were given, also those that the machine makes values of. */
  readonly inputs: readonly HostInput[];
  /** The same as they came. */
  readonly wires: readonly WireValue[];
}

/** The program of a session, whose kernels are watched for a tool: on a device of this side or on a lent one. */
export interface WatchedProgram {
  readonly executable: ExecutableData;
  readonly signal: AbortSignal;
  /** A run of the session's program on the arguments of the request, or on what {@link readArguments} gave. */
  readonly run: (args?: readonly (HostTensor | number)[]) => WatchedRun;
  /** A run of the function `main` of another program, without constants, on the same device. */
  readonly runOf: (program: Executable, inputs: readonly HostTensor[]) => WatchedRun;
  /** Does work while nothing else uses the device, as far as this side decides that. */
  readonly exclude: <T>(work: () => Promise<T>) => Promise<T>;
  /** The arguments of the request for another machine. Rejects with UnsupportedError for those that only one can have. */
  readonly readArguments: () => Promise<readonly (HostTensor | number)[]>;
  /** Tensors by their index in the pool of constants. */
  readonly readConstants: () => Promise<ReadonlyMap<number, HostTensor>>;
}

export interface ToolReply<Answer> {
  readonly answer: Answer;
  readonly results?: readonly WireResult[];
}

/** A tool that a session has opened. It keeps what it has to know at the next request. */
export type Tool<Request, Context, Answer> = (
  request: Request,
  context: Context,
) => Promise<ToolReply<Answer>>;
