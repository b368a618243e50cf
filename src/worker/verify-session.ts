import type { ExecutableData } from '../bytecode/executable.ts';
import type { HostTensor } from '../core/host-tensor.ts';
import type { Device } from '../device/device.ts';
import { createHostDevice } from '../device/host/host-device.ts';
import {
  type ComparedRun,
  compareRuns,
  type LookIntoKernel,
  type RunComparison,
} from '../runtime/compare/compare-runs.ts';
import { readConstants } from '../runtime/compare/read-constants.ts';
import {
  type ProgramInMemory,
  programInMemory,
  widenedDTypes,
  widenProgram,
  widenTensor,
} from '../runtime/compare/widen-program.ts';
import { RangeMeasurement, type ValueRange } from '../runtime/compare/measure-ranges.ts';
import type { Value } from '../runtime/value.ts';
import type { HostedSession } from './hosted-session.ts';
import type { ControlRequest } from './protocol.ts';
import { isTensor, readArguments } from './read-arguments.ts';
import { unfuseKernel } from './unfuse-kernel.ts';

/**
 * Runs a function of a session as it is, beside the same instructions in float32 on the host or as they are on another device, and
 * compares what each kernel gives. Nothing else uses the device meanwhile, which holds the weights twice.
 */
export async function verifySession(
  { machine, device }: HostedSession,
  { functionName, tolerance, against }: Extract<ControlRequest, { kind: 'verify' }>,
  { args, signal }: { readonly args: readonly Value[]; readonly signal: AbortSignal },
): Promise<RunComparison> {
  const given = await readArguments(machine, args, 'verify');
  const { executable } = machine;
  const devices = machine.internals().state.allocators.map((allocator) => allocator.device);
  return device.exclude(async () => {
    const constants = await readConstants(machine);
    const beside =
      against === undefined
        ? [createHostDevice()]
        : [await openBeside(against), createHostDevice()];
    const bothOf = (
      program: ExecutableData,
      pool: ReadonlyMap<number, HostTensor>,
      inputs: readonly (HostTensor | number)[],
    ): { readonly tested: ComparedRun; readonly expected: ComparedRun } => {
      const same: ProgramInMemory = programInMemory(program, pool);
      const expected: ComparedRun =
        against === undefined
          ? {
              program: widenProgram(program, pool),
              options: { devices: beside, widened: widenedDTypes(program) },
              args: inputs.map(widened),
            }
          : { program: same, options: { devices: beside }, args: inputs };
      return { tested: { program: same, options: { devices }, args: inputs }, expected };
    };
    const lookInto: LookIntoKernel = async (primitive, inputs, results) => {
      const program = unfuseKernel(primitive, inputs, results);
      if (program === undefined) return undefined;
      const runs = bothOf(program, new Map(), inputs);
      const { departure } = await compareRuns('main', runs, { tolerance, signal });
      if (departure === undefined) return undefined;
      const { call: index, relativeError, element, got, expected, nans, infinities } = departure;
      const operator = primitive.body[index]?.op ?? '';
      const difference = { relativeError, element, got, expected, nans, infinities };
      return { index, operator, source: undefined, ...difference };
    };
    const runs = bothOf(executable, constants, given);
    return compareRuns(functionName, runs, { tolerance, signal, lookInto });
  }, signal);
}

/** A device for a comparison alone. */
async function openBeside(kind: 'host' | 'wasm'): Promise<Device> {
  if (kind === 'host') return createHostDevice();
  return (await import('./open-wasm.ts')).openWasm({ threads: 1 });
}

/** Measurements that wait for further runs. */
const measurements = new WeakMap<HostedSession, RangeMeasurement>();

/** Runs a function in float32 on the host; how large the values are that the program stores as float16, in all runs. */
export async function measureRanges(
  hosted: HostedSession,
  { functionName, isLast }: Extract<ControlRequest, { kind: 'ranges' }>,
  { args, signal }: { readonly args: readonly Value[]; readonly signal: AbortSignal },
): Promise<readonly ValueRange[]> {
  const { machine, device } = hosted;
  const given = await readArguments(machine, args, 'verify');
  const opened = measurements.get(hosted);
  const measurement =
    opened ??
    (await RangeMeasurement.open(
      machine.executable,
      await device.share(() => readConstants(machine)),
      createHostDevice(),
    ));
  measurements.set(hosted, measurement);
  try {
    return await measurement.run(functionName, given.map(widened), signal);
  } finally {
    if (isLast) {
      measurements.delete(hosted);
      measurement.dispose();
    }
  }
}

const widened = (arg: HostTensor | number): HostTensor | number =>
  isTensor(arg) ? widenTensor(arg) : arg;
