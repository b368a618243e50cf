import { UsageError } from '../../core/errors.ts';
import type { Device } from '../../device/device.ts';
import type { WorkerConfig } from '../protocol.ts';
import type { SessionDevices } from '../shared-use.ts';
import { Place } from './place.ts';
import { SharedSession, type SharedSessionParts } from './shared-session.ts';
import { openWeightFolder, type WeightFolder } from './weight-files.ts';
import { WeightSource } from './weight-source.ts';

export interface SharingParts extends Pick<SharedSessionParts, 'openDevices' | 'createMachine'> {
  /** A clock in milliseconds. Default: that of the platform. */
  readonly now?: () => number;
  /** Default: the private files of the origin. */
  readonly openFolder?: () => Promise<WeightFolder | undefined>;
}

/** Shares devices between the sessions of a worker: one budget for memory, and turns by priority. */
export class SessionSharing {
  readonly #parts: SharingParts;
  readonly #places = new Map<Device, Place>();
  #byteBudget = Number.POSITIVE_INFINITY;
  #folder: Promise<WeightFolder | undefined> | undefined;

  constructor(parts: SharingParts) {
    this.#parts = parts;
  }

  /** Holds for each device. A smaller budget is kept to as soon as runs that are under way end. */
  configure({ memoryBudget = Number.POSITIVE_INFINITY }: WorkerConfig): void {
    this.#byteBudget = memoryBudget;
    for (const place of this.#places.values()) place.setBudget(memoryBudget);
  }

  /** A part for a session about to be loaded. Throws UsageError for a priority that is none. */
  async share(
    { request, program, owner }: Pick<SharedSessionParts, 'request' | 'program' | 'owner'>,
    devices: SessionDevices,
  ): Promise<SharedSession> {
    checkPriority(request.priority ?? 1);
    const { openDevices, createMachine, openFolder = openWeightFolder } = this.#parts;
    this.#folder ??= openFolder();
    const folder = await this.#folder;
    const source = new WeightSource({ request, hashes: program.dataHashes, folder });
    const placeOf = (device: Device): Place => this.#placeOf(device);
    const parts = { request, program, owner, source, placeOf, openDevices, createMachine };
    return new SharedSession(devices, parts);
  }

  #placeOf(device: Device): Place {
    const { now = () => performance.now() } = this.#parts;
    for (const [other, place] of this.#places) {
      if (other === device) return place;
      if (!place.admission.isEmpty) continue;
      place.memory.pool.dispose();
      this.#places.delete(other);
    }
    const place = new Place(device, { byteBudget: this.#byteBudget, now });
    this.#places.set(device, place);
    return place;
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
