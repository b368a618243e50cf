import type { VirtualMachine } from '../../runtime/virtual-machine.ts';
import type { SharedDevice } from '../devices/device-pool.ts';
import type { SharingCounters } from '../protocol/session-memory.ts';

/** The device of a session and the host beside it; both the same when it runs on the host. */
export interface SessionDevices {
  readonly main: SharedDevice;
  readonly host: SharedDevice;
}

/** A session's part in the memory and time of a device that others use too; see `sharing/`. */
export interface SharedUse {
  /**
   * Does work when there is room for it, with the weights on the device; again after a loss. What `joins` a run of
   * its session that is under way does not wait for room, since that run may wait for it.
   */
  use<T>(work: () => Promise<T>, signal: AbortSignal | undefined, joins?: boolean): Promise<T>;
  /** From now on the weights stay on the device: calls outlive what began them. */
  hold(signal: AbortSignal): Promise<void>;
  counters(): SharingCounters;
  /** The session is over, and its machine too. Resolves when its files are removed. */
  dispose(): Promise<void>;
}

/** The view of a session for whoever shares its device out. */
export interface RebuildableSession {
  readonly machine: VirtualMachine;
  /** Takes over the devices; those before go back. Tensors that were kept are lost. */
  replace(machine: VirtualMachine, devices: SessionDevices): void;
}
