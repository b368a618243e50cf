import type { HostedSession } from '../host/hosted-session.ts';
import { IdleTurns } from '../devices/idle-turns.ts';
import type { DeviceKind } from '../protocol/loaded-session.ts';
import type { RunRequest } from '../protocol/run-request.ts';
import { measuredRates } from './measured-rates.ts';
import type { PlaceStore } from './place-store.ts';
import type { PlaceTrial } from './place-trial.ts';

/** The first runs make kernels and record; what comes then is as usual. */
const FIRST_RUN_COUNT = 2;
/** Inputs of more bytes are not copied for a trial. */
const MOST_INPUT_BYTES = 2 ** 22;

interface FirstRunsOptions {
  readonly store: PlaceStore;
  readonly kind: DeviceKind;
  /** A trial of the other device, where the estimate is too close to trust. */
  readonly trial: PlaceTrial | undefined;
}

/**
 * Measures the device, and where an estimate was too close both devices, while a session is idle
 * after its first runs.
 */
export class FirstRuns {
  readonly #options: FirstRunsOptions;
  #count = 0;

  constructor(options: FirstRunsOptions) {
    this.#options = options;
  }

  /** Call before each run of a session. */
  observe(hosted: HostedSession, request: RunRequest): void {
    if (++this.#count !== FIRST_RUN_COUNT) return;
    // Before the run has its inputs: their memory goes back to the page.
    const copy = copyOf(request);
    // Measurements that fail leave things as they are.
    this.#measure(hosted, copy).catch(() => undefined);
  }

  async #measure(hosted: HostedSession, request: RunRequest | undefined): Promise<void> {
    const { store, kind, trial } = this.#options;
    const { signal } = new AbortController();
    const turns = new IdleTurns(hosted.device, signal, hosted.clock);
    const { device } = hosted.device;
    await measuredRates(device, { store, kind }, (work) =>
      turns.take(() => {
        requireLive(hosted);
        return work();
      }),
    );
    // Sessions that share their device have a budget for its memory.
    if (trial === undefined || request === undefined || hosted.shared !== undefined) return;
    const idle = async (): Promise<void> => {
      await turns.idle();
      requireLive(hosted);
    };
    const times = await trial.run(request, idle);
    await store.add({ programs: [{ program: trial.key, times }] });
  }
}

/** Throws once the session is disposed of. */
function requireLive({ machine }: HostedSession): void {
  machine.internals();
}

/** Undefined for one with tensors that lie on the device, or that are large. */
function copyOf(request: RunRequest): RunRequest | undefined {
  let byteLength = 0;
  for (const value of request.args) {
    if (value.kind === 'handle' || value.kind === 'adt') return undefined;
    if (value.kind === 'tensor') byteLength += value.data.byteLength;
  }
  return byteLength > MOST_INPUT_BYTES ? undefined : { ...structuredClone(request), keep: 'host' };
}
