import { createHostDevice } from '../device/host/host-device.ts';
import type { RunComparison } from '../runtime/compare/compare-runs.ts';
import { RangeMeasurement, type ValueRange } from '../runtime/compare/measure-ranges.ts';
import { readConstants } from '../runtime/compare/read-constants.ts';
import type { Value } from '../runtime/value.ts';
import type { HostedSession } from './hosted-session.ts';
import type { ControlRequest } from './protocol.ts';
import { readArguments } from './read-arguments.ts';
import { verifyProgram, widened } from './verify-program.ts';
import { watchedSession } from './watched-session.ts';

/** See {@link verifyProgram}. Nothing else uses the device meanwhile. */
export async function verifySession(
  hosted: HostedSession,
  request: Extract<ControlRequest, { kind: 'verify' }>,
  { args, signal }: { readonly args: readonly Value[]; readonly signal: AbortSignal },
): Promise<RunComparison> {
  await hosted.shared?.hold(signal);
  const { machine, device } = hosted;
  const given = await readArguments(machine, args, 'verify');
  return device.exclude(async () => {
    const constants = await readConstants(machine);
    const program = { ...watchedSession(hosted, given), constants, args: given };
    return verifyProgram(program, request, signal);
  }, signal);
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
