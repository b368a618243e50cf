import type { HostInput } from '../../runtime/link/host-function.ts';
import type { HostedSession } from '../host/hosted-session.ts';
import type { ControlRequest } from '../protocol/control-request.ts';
import { type ProgramTrace, traceProgram } from './trace-program.ts';
import { watchedSession } from './watched-session.ts';

/** See {@link traceProgram}. Nothing else uses the device meanwhile. */
export async function traceSession(
  hosted: HostedSession,
  request: Extract<ControlRequest, { kind: 'trace' }>,
  { inputs, signal }: { readonly inputs: readonly HostInput[]; readonly signal: AbortSignal },
): Promise<ProgramTrace> {
  await hosted.shared?.hold(signal);
  const work = () => traceProgram(watchedSession(hosted, inputs), request, signal);
  return hosted.device.exclude(work, signal);
}
