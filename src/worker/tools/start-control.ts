import { isValue } from '../../runtime/values/value.ts';
import type { HostStates } from '../../runtime/snapshot/take-snapshot.ts';
import type { HostedSession } from '../host/hosted-session.ts';
import type { ControlReply, ControlRequest } from '../protocol/control-request.ts';

/** Pauses a session, lets it go on, stores it, or puts a snapshot into it. */
export function startControl(
  hosted: HostedSession,
  request: ControlRequest,
  context: { readonly signal: AbortSignal; readonly states: HostStates | undefined },
): Promise<ControlReply> {
  const loading = import('./control-session.ts');
  const done = hosted.withArguments(request, async (inputs) => {
    const args = inputs.map((input) => (isValue(input) ? input : null));
    const { controlSession } = await loading;
    return controlSession(hosted, request, { args, inputs, ...context });
  });
  // Runs that come later do not overtake it.
  hosted.ready = loading;
  return done;
}
