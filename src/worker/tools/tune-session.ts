import { saveChoices } from '../devices/choice-store.ts';
import type { HostedSession } from '../host/hosted-session.ts';
import { IdleTurns } from '../host/idle-turns.ts';
import type { ControlRequest, SessionTuning } from '../protocol/control-request.ts';

/**
 * Tunes one kernel of a session while no other session uses the device, or in turns while nothing does,
 * and stores what was chosen.
 */
export async function tuneSession(
  hosted: HostedSession,
  { index, idle }: Extract<ControlRequest, { kind: 'tune' }>,
  signal: AbortSignal,
): Promise<SessionTuning> {
  const { device, machine } = hosted;
  const remember = () => store(hosted);
  const step = await (idle === true
    ? machine.tune(index, {
        signal,
        turns: new IdleTurns(device, signal, hosted.clock),
        isBackground: true,
        remember,
      })
    : device.exclude(() => hosted.machine.tune(index, { signal }), signal));
  const isStored = step.kernels.length > 0 && (await remember());
  return { ...step, isStored };
}

/** False where nothing can be stored: in Node, or where the browser keeps nothing. */
async function store({ device }: HostedSession): Promise<boolean> {
  if (!('indexedDB' in globalThis)) return false;
  try {
    await saveChoices(device.device);
    return true;
  } catch {
    return false;
  }
}
