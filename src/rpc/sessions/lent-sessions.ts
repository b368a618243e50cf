import type { Executable } from '../../bytecode/executable-file.ts';
import { SharedDevice } from '../../worker/device-pool.ts';
import type { LendableDevice } from '../lendable-device.ts';
import type { RpcValue } from '../rpc-value.ts';
import { type LentProgram, LentSession } from './lent-session.ts';

export type LentSessionsOptions = Omit<LentProgram, 'executable' | 'devices' | 'onDispose'>;

/** A program, and where it is loaded. */
export interface LentPlace {
  readonly executable: Executable;
  readonly device: LendableDevice;
  /** Where it computes what the device cannot. */
  readonly host: LendableDevice | undefined;
}

/** The sessions of one who may use the devices. */
export class LentSessions {
  readonly #options: LentSessionsOptions;
  readonly #sessions = new Set<LentSession>();
  /** Of this one only: whoever profiles keeps out no other who uses the device. */
  readonly #devices = new Map<LendableDevice, SharedDevice>();
  #isDisposed = false;

  constructor(options: LentSessionsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** See {@link LentSession.open}. */
  async open(
    { executable, device, host = device }: LentPlace,
    asked: RpcValue | undefined,
    signal: AbortSignal,
  ): Promise<LentSession> {
    const devices = { main: this.#share(device), host: this.#share(host) };
    const onDispose = (session: LentSession): boolean => this.#sessions.delete(session);
    const program = { ...this.#options, executable, devices, onDispose };
    const opened = await LentSession.open(program, asked, signal);
    this.#sessions.add(opened);
    if (this.#isDisposed) opened.dispose();
    return opened;
  }

  dispose(): void {
    this.#isDisposed = true;
    for (const session of this.#sessions) session.dispose();
  }

  #share(device: LendableDevice): SharedDevice {
    const known = this.#devices.get(device);
    const shared = known ?? new SharedDevice(device);
    // Once more than it is released: the device is the lender's, who alone destroys it.
    if (known === undefined) shared.retain();
    this.#devices.set(device, shared);
    shared.retain();
    return shared;
  }
}
