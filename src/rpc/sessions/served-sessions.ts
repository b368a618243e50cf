import type { Executable } from '../../bytecode/file/executable-file.ts';
import { SharedDevice } from '../../worker/devices/device-pool.ts';
import type { ServedDevice } from '../served-device.ts';
import type { AskedProgram } from './called-page.ts';
import { type HeldRunLimits, HeldRuns } from './held-runs.ts';
import { type ServedProgram, ServedSession } from './served-session.ts';

export type ServedSessionsOptions = Omit<
  ServedProgram,
  'executable' | 'devices' | 'heldRuns' | 'onDispose'
> & {
  readonly ceilings: HeldRunLimits;
};

/** A program, and where it is loaded. */
export interface ServedPlace {
  readonly executable: Executable;
  readonly device: ServedDevice;
  /** The device that computes what `device` cannot. */
  readonly host: ServedDevice | undefined;
}

/** The sessions of one who may use the devices. */
export class ServedSessions {
  readonly #options: ServedSessionsOptions;
  readonly #sessions = new Set<ServedSession>();
  /** Runs that are held, of all sessions together. */
  readonly #heldRuns: HeldRuns;
  /** Of this one only: whoever profiles keeps out no other who uses the device. */
  readonly #devices = new Map<ServedDevice, SharedDevice>();
  #isDisposed = false;

  constructor(options: ServedSessionsOptions) {
    this.#options = options;
    this.#heldRuns = new HeldRuns(options.ceilings, options.clock);
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** See {@link ServedSession.open}. */
  async open(
    { executable, device, host = device }: ServedPlace,
    asked: AskedProgram,
    signal: AbortSignal,
  ): Promise<ServedSession> {
    const devices = { main: this.#share(device), host: this.#share(host) };
    const onDispose = (session: ServedSession): boolean => this.#sessions.delete(session);
    const heldRuns = this.#heldRuns;
    const program = { ...this.#options, executable, devices, heldRuns, onDispose };
    const opened = await ServedSession.open(program, asked, signal);
    this.#sessions.add(opened);
    if (this.#isDisposed) opened.dispose();
    return opened;
  }

  dispose(): void {
    this.#isDisposed = true;
    for (const session of this.#sessions) session.dispose();
  }

  #share(device: ServedDevice): SharedDevice {
    const known = this.#devices.get(device);
    const shared = known ?? new SharedDevice(device);
    // Once more than it is released: the device is the server's, who alone destroys it.
    if (known === undefined) shared.retain();
    this.#devices.set(device, shared);
    shared.retain();
    return shared;
  }
}
