import { UsageError } from '../core/errors.ts';
import { shortList } from '../core/short-list.ts';
import { programInMemory } from '../runtime/compare/widen-program.ts';
import { readConstants } from '../runtime/compare/read-constants.ts';
import { type RunUnfused, type TracedPlace, traceRun } from '../runtime/compare/trace-run.ts';
import { AdtValue, TensorValue, type Value } from '../runtime/value.ts';
import { VirtualMachine } from '../runtime/virtual-machine.ts';
import type { HostedSession } from './hosted-session.ts';
import type { ControlRequest, WireResult } from './protocol.ts';
import { readArguments } from './read-arguments.ts';
import { unfuseKernel } from './unfuse-kernel.ts';

/**
 * Runs a function of a session once, and keeps values that are computed on the way. Nothing else uses the device meanwhile,
 * which holds the weights twice. Throws UsageError for a name that the program has no place for, unless it `skips` those.
 */
export async function traceSession(
  { machine, device }: HostedSession,
  { functionName, values, skips }: Extract<ControlRequest, { kind: 'trace' }>,
  { args, signal }: { readonly args: readonly Value[]; readonly signal: AbortSignal },
): Promise<{ readonly results: readonly WireResult[]; readonly trace: readonly TracedPlace[] }> {
  const given = await readArguments(machine, args, 'trace');
  const devices = machine.internals().state.allocators.map((allocator) => allocator.device);
  const runUnfused: RunUnfused = async (primitive, inputs, results) => {
    const program = unfuseKernel(primitive, inputs, results);
    if (program === undefined) return undefined;
    const beside = await VirtualMachine.create(programInMemory(program, new Map()), {
      devices,
      signal,
    });
    try {
      const tuple = await beside.invoke('main', inputs, { signal });
      const fields = tuple instanceof AdtValue ? tuple.fields : [];
      const read = await beside.read(fields.filter((value) => value instanceof TensorValue));
      beside.release(tuple);
      return read;
    } finally {
      beside.dispose();
    }
  };
  return device.exclude(async () => {
    const program = programInMemory(machine.executable, await readConstants(machine));
    const run = { program, options: { devices }, args: given };
    const {
      values: found,
      unknown,
      known,
    } = await traceRun(functionName, run, {
      values,
      signal,
      runUnfused,
    });
    if (unknown.length > 0 && !skips) throw unknownValues(unknown, known);
    const results = found.map(({ place, tensor }): WireResult => {
      const { dtype, shape, data } = tensor;
      return { name: place.name, value: { kind: 'tensor', dtype, shape, data } };
    });
    return { results, trace: found.map(({ place }) => place) };
  }, signal);
}

function unknownValues(unknown: readonly string[], known: readonly string[]): UsageError {
  return new UsageError({
    where: 'trace',
    got: `values ${shortList(unknown.map((name) => JSON.stringify(name)))}`,
    expected: `names of the source that the program computes, such as ${shortList(known)}`,
    remedy: 'The compiler leaves out values that are constant, or that it computes in another way.',
  });
}
