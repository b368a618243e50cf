import { UsageError } from '../../core/errors.ts';
import type { Device } from '../../device/device.ts';
import type { WorkerConfig } from '../protocol/session-service.ts';
import type { SessionDevices } from '../host/shared-use.ts';
import { DeviceSharing } from './device-sharing.ts';
import { SharedSession, type SharedSessionContext } from './shared-session.ts';
import { openWeightFolder, type WeightFolder } from './weight-files.ts';
import { WeightSource } from './weight-source.ts';

interface SharingContext extends Pick<SharedSessionContext, 'openDevices' | 'createMachine'> {
  /** A clock in milliseconds. Default: that of the platform. */
  readonly now?: () => number;
  /** Default: the private files of the origin. */
  readonly openFolder?: () => Promise<WeightFolder | undefined>;
}

/** Shares devices between the sessions of a worker: one budget for memory, and turns by priority. */
export class SessionSharing {
  readonly #context: SharingContext;
  readonly #sharings = new Map<Device, DeviceSharing>();
  #byteBudget = Number.POSITIVE_INFINITY;
  #folder: Promise<WeightFolder | undefined> | undefined;

  constructor(context: SharingContext) {
    this.#context = context;
  }

  /** Holds for each device. A smaller budget is kept to as soon as runs that are under way end. */
  configure({ memoryBudget = Number.POSITIVE_INFINITY }: WorkerConfig): void {
    this.#byteBudget = memoryBudget;
    for (const sharing of this.#sharings.values()) sharing.setBudget(memoryBudget);
  }

  /** A part for a session about to be loaded. Throws UsageError for a priority that is none. */
  async share(
    part: Pick<SharedSessionContext, 'request' | 'program' | 'owner'> &
      Partial<Pick<SharedSessionContext, 'createMachine'>>,
    devices: SessionDevices,
  ): Promise<SharedSession> {
    const { request, program, owner } = part;
    checkPriority(request.priority ?? 1);
    const { createMachine = this.#context.createMachine } = part;
    const { openDevices, openFolder = openWeightFolder } = this.#context;
    this.#folder ??= openFolder();
    const folder = await this.#folder;
    const source = new WeightSource({
      request,
      hashes: program.dataHashes,
      folder,
      tables: program.tables,
    });
    const sharingOf = (device: Device): DeviceSharing => this.#sharingOf(device);
    const context = { request, program, owner, source, sharingOf, openDevices, createMachine };
    return new SharedSession(devices, context);
  }

  #sharingOf(device: Device): DeviceSharing {
    const { now = () => performance.now() } = this.#context;
    for (const [other, sharing] of this.#sharings) {
      if (other === device) return sharing;
      if (!sharing.admission.isEmpty) continue;
      sharing.memory.pool.dispose();
      this.#sharings.delete(other);
    }
    const sharing = new DeviceSharing(device, { byteBudget: this.#byteBudget, now });
    this.#sharings.set(device, sharing);
    return sharing;
  }
}

function checkPriority(priority: number): void {
  if (priority > 0 && priority < Number.POSITIVE_INFINITY) return;
  throw new UsageError({
    where: 'Session.load, priority',
    got: String(priority),
    expected: 'a number above 0: with twice the priority a session gets twice the time',
  });
}
