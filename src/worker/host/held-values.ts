import { DeviceLostError, UsageError } from '../../core/errors.ts';
import type { FunctionType } from '../../runtime/values/typed-values.ts';
import type { StorageValue, TensorValue } from '../../runtime/values/value.ts';
import type { VirtualMachine } from '../../runtime/virtual-machine.ts';
import type { HandleId } from '../protocol/reply.ts';
import type { WireValue } from '../protocol/wire-value.ts';
import type { FunctionValue, HeldFunction, HeldFunctions } from './held-functions.ts';
import type { SessionDevices, SharedUse } from './shared-use.ts';

interface HeldTensor {
  readonly tensor: TensorValue;
  readonly owner: HeldValues;
}

/** The tensors that the page holds of all sessions of a worker: those of one can be arguments of another. */
export class HandleTable {
  readonly #held = new Map<HandleId, HeldTensor>();
  /** Whose memory it is that a session holds: that of the one which held it first. */
  readonly #owners = new WeakMap<StorageValue, HeldValues>();
  #next = 1;

  get next(): HandleId {
    return this.#next;
  }

  /** A number that no session gave before. */
  take(): HandleId {
    return this.#next++;
  }

  get(handle: HandleId): HeldTensor | undefined {
    return this.#held.get(handle);
  }

  /** A new handle of a tensor. A session that returns what it was given holds memory of another one. */
  hold(tensor: TensorValue, owner: HeldValues): HandleId {
    const handle = this.take();
    this.#held.set(handle, { tensor, owner });
    if (this.#owners.has(tensor.storage)) this.#otherOwner(tensor, owner)?.addReader();
    else this.#owners.set(tensor.storage, owner);
    return handle;
  }

  drop(handle: HandleId): void {
    const held = this.#held.get(handle);
    if (held === undefined) return;
    this.#held.delete(handle);
    this.#otherOwner(held.tensor, held.owner)?.removeReader();
  }

  #otherOwner({ storage }: TensorValue, owner: HeldValues): HeldValues | undefined {
    const first = this.#owners.get(storage);
    return first === owner ? undefined : first;
  }
}

/** The machine that the values are of. Another one takes its place when the device is lost. */
interface HoldingSession {
  readonly machine: VirtualMachine;
  readonly devices: SessionDevices;
  readonly shared: SharedUse | undefined;
}

/** The tensors and functions of one session that the page holds. */
export class HeldValues {
  readonly #session: HoldingSession;
  readonly #table: HandleTable;
  readonly #handles = new Set<HandleId>();
  /** Made with the first one. */
  #functions: HeldFunctions | undefined;
  /** Handles below this one went with a device. */
  #firstHandle = 1;
  /** How many runs and results of other sessions read memory of this one. Sessions that share their device have none. */
  #readers = 0;
  #end: (() => void) | undefined;

  constructor(session: HoldingSession, table: HandleTable) {
    this.#session = session;
    this.#table = table;
  }

  get functionCount(): number {
    return this.#functions?.size ?? 0;
  }

  hold(tensor: TensorValue): WireValue {
    const handle = this.#table.hold(tensor, this);
    this.#handles.add(handle);
    this.#session.machine.retain(tensor);
    return { kind: 'handle', handle, dtype: tensor.dtype, shape: tensor.shape };
  }

  /** `newHeld` makes the table of functions, whose code a session loads with the first one. */
  holdFunction(
    value: FunctionValue,
    type: FunctionType | undefined,
    newHeld: () => HeldFunctions,
  ): WireValue {
    const handle = this.#table.take();
    this.#handles.add(handle);
    this.#functions ??= newHeld();
    this.#functions.keep(handle, value, { machine: this.#session.machine, type });
    return { kind: 'closure', handle };
  }

  /** What `make` gives; where it throws, the handles that it made go: nobody learns of them. */
  holdAll<T>(make: () => T): T {
    let handle = this.#table.next;
    try {
      return make();
    } catch (error) {
      for (; handle < this.#table.next; handle++) this.release(handle);
      throw error;
    }
  }

  /** Throws UsageError for one that was disposed of. */
  function(handle: HandleId): HeldFunction {
    const held = this.#functions?.get(handle);
    if (held !== undefined) return held;
    throw new UsageError('The session gave no function.');
  }

  /**
   * With `owners` a tensor of another session is taken too; that session is added to them, and has a reader more.
   * Throws UsageError for a tensor that was disposed of, DeviceLostError for one that went with its device.
   */
  tensor(handle: HandleId, owners?: HeldValues[]): TensorValue {
    const held = this.#table.get(handle);
    if (held?.owner === this) return held.tensor;
    if (held && owners) {
      this.#checkOther(held);
      held.owner.addReader();
      owners.push(held.owner);
      return held.tensor;
    }
    if (handle > 0 && handle < this.#firstHandle) {
      throw new DeviceLostError('The DeviceTensor was lost with its device.');
    }
    throw new UsageError({
      where: 'DeviceTensor',
      got: 'a handle that was disposed of',
      expected: 'a live one',
    });
  }

  /** Throws UsageError for a tensor on another device. A session that shares its device may lose its memory at any time. */
  #checkOther({ tensor, owner }: HeldTensor): void {
    const { devices, shared } = this.#session;
    const { device } = tensor.storage;
    const isHere = device === devices.main.device || device === devices.host.device;
    if (isHere && !shared && !owner.#session.shared) return;
    throw new UsageError({
      where: 'DeviceTensor',
      got: 'a tensor of a session on another device, or of one that shares its device',
      expected: 'one of a session on the same device',
      remedy: 'Read it, and give the Tensor.',
    });
  }

  release(handle: HandleId): void {
    if (!this.#handles.delete(handle)) return;
    const { machine } = this.#session;
    const held = this.#table.get(handle);
    if (held) machine.release(held.tensor);
    else this.#functions?.release(handle, machine);
    this.#table.drop(handle);
  }

  /** Releases a tensor that the page holds, of whichever session it is. */
  releaseOfAny(handle: HandleId): void {
    (this.#table.get(handle)?.owner ?? this).release(handle);
  }

  /** Drops what went with a device. */
  lose(): void {
    for (const handle of this.#handles) this.#table.drop(handle);
    this.#handles.clear();
    this.#functions?.clear();
    this.#firstHandle = this.#table.next;
  }

  /** Releases all, then calls `end`, when nobody reads memory of the session any more. */
  dispose(end: () => void): void {
    for (const handle of this.#handles) this.release(handle);
    if (this.#readers === 0) end();
    else this.#end = end;
  }

  /** Another session, or a run of one, reads memory of this one from now on. */
  addReader(): void {
    this.#readers++;
  }

  /** A session or run that reads its memory has ended. */
  removeReader(): void {
    if (--this.#readers === 0) this.#end?.();
  }
}
