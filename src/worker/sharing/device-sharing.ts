import { OutOfMemoryError } from '../../core/errors.ts';
import type { Device } from '../../device/device.ts';
import { Admission } from './admission.ts';
import { DeviceScheduler } from './device-scheduler.ts';
import { SharedMemory } from './shared-memory.ts';

interface DeviceSharingOptions {
  readonly byteBudget: number;
  /** A clock in milliseconds. */
  readonly now: () => number;
}

/** A device with what its sessions share: memory, admission to it, and time. */
export class DeviceSharing {
  readonly memory: SharedMemory;
  readonly admission: Admission;
  readonly scheduler: DeviceScheduler;

  constructor(device: Device, { byteBudget, now }: DeviceSharingOptions) {
    this.admission = new Admission({ byteBudget: () => this.memory.byteBudget, now });
    const onShortage = (byteLength: number): void => this.admission.makeRoom(byteLength);
    this.memory = new SharedMemory(device, { byteBudget, onShortage });
    this.scheduler = new DeviceScheduler({ device, now });
  }

  setBudget(byteBudget: number): void {
    this.memory.pool.byteBudget = byteBudget;
    this.keepBudget();
  }

  /** Gives back what is beyond a budget that became smaller, as far as nobody uses it. */
  keepBudget(): void {
    try {
      this.memory.pool.reserve(0);
    } catch (error) {
      if (!(error instanceof OutOfMemoryError)) throw error;
    }
  }
}
