import { saveChoices } from '../devices/choice-store.ts';
import type { TuningStep } from '../../device/device.ts';
import type { HostedSession } from '../host/hosted-session.ts';
import { IdleTurns } from '../devices/idle-turns.ts';
import type { Tool, ToolContext } from './tool.ts';

export interface TuneRequest {
  /** The number of the kernel among those that can be tuned. */
  readonly index: number;
  /** While the device has nothing else to do. */
  readonly idle?: boolean | undefined;
}

interface SessionTuning extends TuningStep {
  /** True if the choices outlive the worker. */
  readonly isStored: boolean;
}

/**
 * Tunes one kernel of a session while no other session uses the device, or in turns while nothing does,
 * and stores what was chosen.
 */
export const openTool =
  (hosted: HostedSession): Tool<TuneRequest, ToolContext, SessionTuning> =>
  async (request, { signal }) => ({ answer: await tune(hosted, request, signal) });

async function tune(
  hosted: HostedSession,
  { index, idle }: TuneRequest,
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
