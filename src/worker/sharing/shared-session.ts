import type { Constant, ExecutableData } from '../../bytecode/executable.ts';
import { BUILTIN_PREFIX } from '../../bytecode/builtins.ts';
import { DeviceLostError, OutOfMemoryError } from '../../core/errors.ts';
import { untilAborted } from '../../core/async/until-aborted.ts';
import type { Device, LaunchOwner } from '../../device/device.ts';
import type { Allocator } from '../../runtime/allocator/allocator.ts';
import { PooledAllocator } from '../../runtime/allocator/pooled-allocator.ts';
import { layOut } from '../../runtime/link/constant-upload.ts';
import type { MachineOptions } from '../../runtime/link/load-machine.ts';
import type { StorageValue } from '../../runtime/values/value.ts';
import type { VirtualMachine } from '../../runtime/virtual-machine.ts';
import type { PooledOptions } from '../devices/device-pool.ts';
import type { LoadedProgram } from '../host/loaded-program.ts';
import { machineOptions } from '../host/within-ceilings.ts';
import type { LoadRequest } from '../protocol/load-request.ts';
import type { SharingCounters } from '../protocol/session-memory.ts';
import type { RebuildableSession, SessionDevices, SharedUse } from '../host/shared-use.ts';
import type { EnterOptions, ResidentSession } from './admission.ts';
import type { DeviceShare } from './device-scheduler.ts';
import type { DeviceSharing } from './device-sharing.ts';
import type { SessionAllocator } from './shared-memory.ts';
import type { WeightSource } from './weight-source.ts';
import type { PendingReplay } from '../../runtime/replay/replay-store.ts';
import type { CallInFlight } from '../../runtime/calls/call-in-flight.ts';
import type { Turn, Turns } from '../../runtime/run-hooks.ts';

/** A machine's turns on a device of which it has a share. */
export class ShareTurns implements Turns {
  readonly #share: DeviceShare;

  constructor(share: DeviceShare) {
    this.#share = share;
  }

  async take(call: CallInFlight): Promise<Turn> {
    const turn = this.#share.take();
    try {
      await call.idle(turn.ready);
      return turn;
    } catch (error) {
      turn.end();
      throw error;
    }
  }

  async replay(call: CallInFlight, { launches }: PendingReplay): Promise<boolean> {
    for (let next: number | undefined = 0; ; ) {
      const turn = await this.take(call);
      try {
        if (!launches.isUsable()) return false;
        next = launches.replay(next, turn.launchLimit);
        if (next === undefined) return true;
      } finally {
        turn.end();
      }
    }
  }
}

/**
 * From so many faults on, a session is not built again. A device that did not answer is enough; one that
 * went by itself, maybe by chance, has to go twice with no run that ends in between.
 */
const FATAL_FAULTS = 2;

export interface SharedSessionContext {
  readonly request: LoadRequest;
  readonly program: LoadedProgram;
  /** Learns of losses of the device. */
  readonly owner: LaunchOwner;
  readonly source: WeightSource;
  readonly sharingOf: (device: Device) => DeviceSharing;
  readonly openDevices: (
    kind: Device['kind'],
    options: PooledOptions,
    executable: ExecutableData,
  ) => Promise<SessionDevices>;
  readonly createMachine: CreateMachine;
}

/** Bytes that the constants of the session's device take up there. */
function constantByteLength(constants: readonly Constant[], device: Device): number {
  const tensors = constants.filter((constant) => constant.kind === 'tensor');
  const placed = tensors.filter((tensor) => device.kind !== 'webgpu' || tensor.device !== 'host');
  return layOut(placed, device).reduce((sum, { byteLength }) => sum + byteLength, 0);
}

export type CreateMachine = (
  executable: ExecutableData,
  devices: SessionDevices,
  options: Partial<MachineOptions>,
) => Promise<VirtualMachine>;

/** A session whose weights come and go, and which is built again when its device is lost. */
export class SharedSession implements SharedUse, ResidentSession {
  isResident = false;
  runBytes: number | undefined;
  readonly #context: SharedSessionContext;
  readonly #priority: number;
  readonly #closed = new AbortController();
  /** Bytes of the constants on the session's device. */
  readonly #constantBytes: number;
  #devices: SessionDevices;
  #sharing: DeviceSharing;
  #share: DeviceShare;
  #allocator: SessionAllocator | undefined;
  #session: RebuildableSession | undefined;
  #restoring: Promise<void> | undefined;
  #rebuilding: Promise<void> | undefined;
  /** Why the session is not built again any more. */
  #fault: DeviceLostError | undefined;
  #isHeld = false;
  #hits = 0;
  #misses = 0;
  #evictions = 0;
  #restores = 0;
  #evictedBytes = 0;
  #restoredBytes = 0;
  #rebuilds = 0;
  #retries = 0;
  /** Time that the session took on devices that were lost. */
  #earlierMs = 0;

  constructor(devices: SessionDevices, context: SharedSessionContext) {
    const { priority = 1 } = context.request;
    this.#context = context;
    this.#priority = priority;
    this.#devices = devices;
    const { device } = devices.main;
    this.#constantBytes = constantByteLength(context.program.executable.constants, device);
    this.#sharing = context.sharingOf(device);
    this.#share = this.#sharing.scheduler.join(priority);
    this.#sharing.admission.add(this);
  }

  get isPinned(): boolean {
    return this.#isHeld || this.#context.request.pin === true;
  }

  get weightBytes(): number {
    // Kernels may keep constants in another form too.
    return Math.max(this.#constantBytes, this.#allocator?.reservedBytes ?? 0);
  }

  get liveBytes(): number {
    return this.#allocator?.liveBytes ?? 0;
  }

  countRuns(count: number): void {
    const { peakLiveBytes = 0 } = this.#allocator ?? {};
    this.runBytes = Math.max(this.runBytes ?? 0, Math.ceil(peakLiveBytes / count));
    this.#allocator?.forgetPeak();
  }

  /** The options of the first machine. Call {@link loaded} or {@link dispose} then. */
  async begin(signal: AbortSignal): Promise<Partial<MachineOptions>> {
    const { source, program } = this.#context;
    await this.#sharing.admission.enter(this, { signal, isLoading: true });
    return this.#machineOptions(this.#sharing, source.keep(program.blocks));
  }

  loaded(session: RebuildableSession): void {
    this.#session = session;
    this.isResident = true;
    session.machine.internals().runner.turns = new ShareTurns(this.#share);
    this.#leave(this.#sharing);
  }

  async use<T>(work: () => Promise<T>, signal: AbortSignal | undefined, joins = false): Promise<T> {
    let alone = false;
    let isDeviceFull = false;
    for (let attempt = 1; ; attempt++) {
      const sharing = await this.#enter({ signal, alone, joins });
      try {
        if (isDeviceFull) this.#makeAllRoom(sharing);
        if (this.isResident) this.#hits++;
        else await this.#ensureResident(signal);
        const result = await this.#timed(work);
        this.#context.owner.faults = 0;
        return result;
      } catch (error) {
        if (error instanceof DeviceLostError && this.#isAtFault()) this.#fault = error;
        const isCrowded = error instanceof OutOfMemoryError;
        const mayWork = isCrowded || error instanceof DeviceLostError;
        if (attempt > 1 || !mayWork || this.#fault || !this.#isRepeatable()) throw error;
        this.#retries++;
        alone = isCrowded;
        isDeviceFull = isCrowded && error.details['budgetBytes'] === undefined;
      } finally {
        this.#leave(sharing);
      }
    }
  }

  hold(signal: AbortSignal): Promise<void> {
    const hold = async (): Promise<void> => {
      this.#isHeld = true;
    };
    return this.use(hold, signal, true);
  }

  evict(): void {
    this.#evictedBytes += this.weightBytes;
    for (const { buffer } of this.#storages()) buffer.destroy();
    this.#allocator?.reserve(-this.#constantBytes);
    this.isResident = false;
    this.#evictions++;
  }

  counters(): SharingCounters {
    const { memory } = this.#sharing;
    const { reservedBytes, liveBytes, pooledBytes, peakBytes } = memory.pool.counters();
    return {
      isPinned: this.isPinned,
      priority: this.#priority,
      isResident: this.isResident,
      hits: this.#hits,
      misses: this.#misses,
      evictions: this.#evictions,
      restores: this.#restores,
      evictedBytes: this.#evictedBytes,
      restoredBytes: this.#restoredBytes,
      rebuilds: this.#rebuilds,
      retries: this.#retries,
      deviceMs: this.#earlierMs + this.#share.usedMs,
      heldBytes: reservedBytes + liveBytes + pooledBytes,
      peakHeldBytes: peakBytes,
      budgetBytes: memory.byteBudget,
    };
  }

  dispose(): Promise<void> {
    this.#closed.abort();
    this.isResident = false;
    this.#share.leave();
    this.#sharing.admission.remove(this);
    return this.#context.source.dispose();
  }

  /** Waits for a device that works, and for room on it. */
  async #enter(options: EnterOptions): Promise<DeviceSharing> {
    for (;;) {
      if (this.#fault !== undefined) throw this.#fault;
      if (!this.#devices.main.isUsable()) await untilAborted(this.#rebuild(), options.signal);
      const sharing = this.#sharing;
      await sharing.admission.enter(this, options);
      // The device was lost meanwhile.
      if (sharing === this.#sharing && this.#devices.main.isUsable()) return sharing;
      this.#leave(sharing);
    }
  }

  #leave(sharing: DeviceSharing): void {
    sharing.admission.leave(this);
    sharing.keepBudget();
  }

  async #timed<T>(work: () => Promise<T>): Promise<T> {
    const share = this.#share;
    const before = share.usedMs;
    const result = await work();
    share.addRun(share.usedMs - before);
    return result;
  }

  /** The device has less memory than the budget says: what was made last may not be there. */
  #makeAllRoom({ admission, memory }: DeviceSharing): void {
    if (this.isResident) this.evict();
    admission.makeRoom(Number.POSITIVE_INFINITY);
    memory.pool.trim();
  }

  /** Its kernels took the device with them: on another one they would do the same. */
  #isAtFault(): boolean {
    return this.#context.owner.faults >= FATAL_FAULTS;
  }

  /** Functions of JavaScript may have done something that must not be done twice. */
  #isRepeatable(): boolean {
    const { functionTable } = this.#context.program.executable;
    return functionTable.every(
      ({ kind, name }) => kind !== 'packed' || name.startsWith(BUILTIN_PREFIX),
    );
  }

  async #ensureResident(signal: AbortSignal | undefined): Promise<void> {
    this.#misses++;
    this.#restoring ??= this.#restore().finally(() => {
      this.#restoring = undefined;
    });
    await untilAborted(this.#restoring, signal);
  }

  async #restore(): Promise<void> {
    const constants = this.#session?.machine.internals().constants;
    const allocator = this.#allocator;
    if (constants === undefined || allocator === undefined) return;
    const { device } = allocator;
    allocator.reserve(this.#constantBytes);
    try {
      for (const storage of this.#storages()) {
        storage.buffer = device.createBuffer(storage.byteLength);
      }
      constants.rewind();
      const { source } = this.#context;
      for await (const block of source.read(this.#untilClosed())) constants.write(block);
      constants.finish();
      await device.queue?.settle();
    } catch (error) {
      for (const { buffer } of this.#storages()) buffer.destroy();
      if (allocator.reservedBytes > 0) allocator.reserve(-this.#constantBytes);
      throw error;
    }
    this.isResident = true;
    this.#restores++;
    this.#restoredBytes += this.#constantBytes;
  }

  /** Storages of the weights on the session's device. */
  #storages(): StorageValue[] {
    const { device } = this.#devices.main;
    const storages = this.#session?.machine.internals().constants.storages ?? [];
    return storages.filter((storage) => storage.device === device);
  }

  #rebuild(): Promise<void> {
    this.#rebuilding ??= this.#moveToNewDevice().finally(() => {
      this.#rebuilding = undefined;
    });
    return this.#rebuilding;
  }

  async #moveToNewDevice(): Promise<void> {
    const { sharingOf, openDevices, program, request, source, createMachine } = this.#context;
    const { signal } = this.#closed;
    this.isResident = false;
    const { kind } = this.#devices.main.device;
    const devices = await openDevices(kind, request, program.executable);
    const sharing = sharingOf(devices.main.device);
    sharing.admission.add(this);
    try {
      await sharing.admission.enter(this, { signal, isLoading: true });
      const options = this.#machineOptions(sharing, source.read(this.#untilClosed()));
      const machine = await createMachine(program.executable, devices, { ...options, signal });
      this.#adopt(machine, devices, sharing);
    } catch (error) {
      sharing.admission.remove(this);
      devices.main.release();
      devices.host.release();
      throw error;
    }
    this.#leave(sharing);
  }

  #adopt(machine: VirtualMachine, devices: SessionDevices, sharing: DeviceSharing): void {
    this.#sharing.admission.remove(this);
    this.#share.leave();
    this.#earlierMs += this.#share.usedMs;
    this.#devices = devices;
    this.#sharing = sharing;
    this.#share = sharing.scheduler.join(this.#priority);
    machine.internals().runner.turns = new ShareTurns(this.#share);
    this.#session?.replace(machine, devices);
    this.isResident = true;
    this.#rebuilds++;
  }

  /**
   * A signal that aborts at the end of the session, a new one for each use: what listens to it is
   * freed with it.
   */
  #untilClosed(): AbortSignal {
    return AbortSignal.any([this.#closed.signal]);
  }

  #machineOptions(
    { memory }: DeviceSharing,
    dataBlocks: MachineOptions['dataBlocks'],
  ): Partial<MachineOptions> {
    const { request, program } = this.#context;
    const createAllocator = (device: Device, byteBudget?: number): Allocator => {
      if (device !== memory.device) return new PooledAllocator(device, { byteBudget });
      this.#allocator = memory.allocator(byteBudget);
      return this.#allocator;
    };
    const { dataHashes } = program;
    const options = machineOptions(request, this.#context.owner);
    return { ...options, dataBlocks, dataHashes, createAllocator };
  }
}
