import type { RunComparison } from '../../runtime/compare/compare-runs.ts';
import type { ValueRange } from '../../runtime/compare/measure-ranges.ts';
import { readConstants } from '../../runtime/compare/read-constants.ts';
import type { Value } from '../../runtime/values/value.ts';
import type { HostedSession } from '../host/hosted-session.ts';
import { measureProgram } from './measure-program.ts';
import type { ControlRequest } from '../protocol/control-request.ts';
import { readArguments } from '../host/read-arguments.ts';
import { verifyProgram } from './verify-program.ts';
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

/** See {@link measureProgram}. */
export async function measureRanges(
  hosted: HostedSession,
  request: Extract<ControlRequest, { kind: 'ranges' }>,
  { args, signal }: { readonly args: readonly Value[]; readonly signal: AbortSignal },
): Promise<readonly ValueRange[]> {
  const { machine, device } = hosted;
  const given = await readArguments(machine, args, 'verify');
  const { executable } = machine;
  const read = () => device.share(() => readConstants(machine));
  const program = { owner: hosted, executable, readConstants: read };
  return measureProgram(program, request, { args: given, signal });
}
