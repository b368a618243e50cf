import { saveChoices } from './choice-store.ts';
import type { HostedSession } from './hosted-session.ts';
import type { SessionTuning } from './protocol.ts';

/** Tunes one kernel of a session while no other session uses the device, and stores what was chosen. */
export async function tuneSession(
  hosted: HostedSession,
  index: number,
  signal: AbortSignal,
): Promise<SessionTuning> {
  const { device } = hosted;
  const step = await device.exclude(() => hosted.machine.tune(index, signal), signal);
  const isStored = step.kernels.length > 0 && (await store(hosted));
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
