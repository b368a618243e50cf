import { UnsupportedError } from '../core/errors.ts';
import type { HostTensor } from '../core/host-tensor.ts';
import type { Device } from '../device/device.ts';
import { createHostDevice } from '../device/host/host-device.ts';
import { compareRuns, type RunComparison } from '../runtime/compare/compare-runs.ts';
import { readConstants } from '../runtime/compare/read-constants.ts';
import {
  programInMemory,
  widenedDTypes,
  widenProgram,
  widenTensor,
} from '../runtime/compare/widen-program.ts';
import { RangeMeasurement, type ValueRange } from '../runtime/compare/measure-ranges.ts';
import type { HostInput } from '../runtime/host-function.ts';
import { TensorValue, type Value } from '../runtime/value.ts';
import type { HostedSession } from './hosted-session.ts';
import type { ControlRequest } from './protocol.ts';

/**
 * Runs a function of a session as it is, beside the same instructions in float32 on the host or as they are on another device, and
 * compares what each kernel gives. Nothing else uses the device meanwhile, which holds the weights twice.
 */
export async function verifySession(
  { machine, device }: HostedSession,
  { functionName, tolerance, against }: Extract<ControlRequest, { kind: 'verify' }>,
  { args, signal }: { readonly args: readonly Value[]; readonly signal: AbortSignal },
): Promise<RunComparison> {
  const given = await readArguments(machine, args);
  const { executable } = machine;
  const devices = machine.internals().state.allocators.map((allocator) => allocator.device);
  return device.exclude(async () => {
    const constants = await readConstants(machine);
    return compareRuns(
      functionName,
      {
        tested: {
          program: programInMemory(executable, constants),
          options: { devices },
          args: given,
        },
        expected:
          against === undefined
            ? {
                program: widenProgram(executable, constants),
                options: { devices: [createHostDevice()], widened: widenedDTypes(executable) },
                args: given.map(widened),
              }
            : {
                program: programInMemory(executable, constants),
                options: { devices: [await openBeside(against), createHostDevice()] },
                args: given,
              },
      },
      { tolerance, signal },
    );
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
  const given = await readArguments(machine, args);
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

/** Tensors in host memory, and numbers. */
async function readArguments(
  machine: HostedSession['machine'],
  args: readonly Value[],
): Promise<(HostTensor | number)[]> {
  const tensors = args.filter((arg) => arg instanceof TensorValue);
  const read = await machine.read(tensors);
  return args.map((arg) => {
    const tensor = arg instanceof TensorValue ? read[tensors.indexOf(arg)] : arg;
    if (typeof tensor === 'number' || isTensor(tensor)) return tensor;
    throw new UnsupportedError({
      where: 'verify',
      got: 'an input that is neither a tensor nor an int',
      expected: 'tensors and ints, which both runs can be given',
    });
  });
}

const isTensor = (value: HostInput | undefined): value is HostTensor =>
  typeof value === 'object' && value !== null && 'elements' in value;
