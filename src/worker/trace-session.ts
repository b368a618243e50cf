import type { Value } from '../runtime/value.ts';
import type { HostedSession } from './hosted-session.ts';
import type { ControlRequest } from './protocol.ts';
import { readArguments } from './read-arguments.ts';
import { type ProgramTrace, traceProgram } from './trace-program.ts';
import { watchedSession } from './watched-session.ts';

/** See {@link traceProgram}. Nothing else uses the device meanwhile. */
export async function traceSession(
  hosted: HostedSession,
  request: Extract<ControlRequest, { kind: 'trace' }>,
  { args, signal }: { readonly args: readonly Value[]; readonly signal: AbortSignal },
): Promise<ProgramTrace> {
  await hosted.shared?.hold(signal);
  const given = await readArguments(hosted.machine, args, 'trace');
  const work = () => traceProgram(watchedSession(hosted, given), request, signal);
  return hosted.device.exclude(work, signal);
}
