import { UsageError } from '../../core/errors.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import { shortList } from '../../core/short-list.ts';
import { type RunUnfused, type TracedPlace, traceRun } from '../../runtime/compare/trace-run.ts';
import type { WireResult } from '../protocol/wire-value.ts';
import type { Tool, ToolReply, WatchedProgram } from './tool.ts';
import { unfuseKernel } from './unfuse-kernel.ts';

export interface TraceRequest {
  readonly functionName: string;
  /** Names of the source; undefined: all that kernels give. */
  readonly values?: readonly string[] | undefined;
  /** Leaves out names that the program has no place for, and does not refuse them. */
  readonly skips: boolean;
}

/** The place in the program where each of the results was computed. */
type Trace = ToolReply<readonly TracedPlace[]>;

/**
 * Runs a function of a program once, and keeps values that are computed on the way. Rejects with UsageError for a name that the
 * program has no place for, unless it `skips` those.
 */
export const openTool =
  (): Tool<TraceRequest, WatchedProgram, readonly TracedPlace[]> => (request, program) =>
    program.exclude(() => trace(request, program));

async function trace(
  { functionName, values, skips }: TraceRequest,
  { executable, run, runOf, signal }: WatchedProgram,
): Promise<Trace> {
  const runUnfused: RunUnfused = async (primitive, inputs, results) => {
    const program = unfuseKernel(primitive, inputs, results);
    if (program === undefined) return undefined;
    const read: HostTensor[] = [];
    await runOf(program, inputs).run(
      async (call) => {
        read.push(...(await call.results()));
      },
      { functionName: 'main', keepsInputs: false, readsResults: true, signal },
    );
    return read;
  };
  const {
    values: found,
    unknown,
    known,
  } = await traceRun(
    functionName,
    { program: executable, run: run() },
    { values, signal, runUnfused },
  );
  if (unknown.length > 0 && !skips) throw unknownValues(unknown, known);
  const results = found.map(({ place, tensor }): WireResult => {
    const { dtype, shape, data } = tensor;
    return { name: place.name, value: { kind: 'tensor', dtype, shape, data } };
  });
  return { results, answer: found.map(({ place }) => place) };
}

function unknownValues(unknown: readonly string[], known: readonly string[]): UsageError {
  return new UsageError({
    where: 'trace',
    got: `values ${shortList(unknown.map((name) => JSON.stringify(name)))}`,
    expected: `names of the source that the program computes, such as ${shortList(known)}`,
    remedy: 'The compiler leaves out values that are constant, or that it computes in another way.',
  });
}
