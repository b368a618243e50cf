import type { StorageValue, TensorValue } from '../../runtime/values/value.ts';
import type { HandleId } from '../protocol/reply.ts';

/** A session that keeps tensors for the page, and lives until nobody uses its memory. */
export interface Keeper {
  /** Another session, or a run of one, reads its memory from now on. */
  addReader(): void;
  /** A session or run that reads its memory has ended. */
  removeReader(): void;
}

/** A tensor that the page holds. */
export interface KeptTensor<K extends Keeper> {
  readonly tensor: TensorValue;
  /** The session whose handle it is. */
  readonly keeper: K;
}

/** The tensors that the page holds of all sessions of a worker: those of one can be arguments of another. */
export class HandleTable<K extends Keeper> {
  readonly #kept = new Map<HandleId, KeptTensor<K>>();
  /** Whose memory it is that a session keeps: that of the one which kept it first. */
  readonly #owners = new WeakMap<StorageValue, K>();
  #next = 1;

  /** The handle that comes next. */
  get next(): HandleId {
    return this.#next;
  }

  /** A number that no session gave before. */
  take(): HandleId {
    return this.#next++;
  }

  get(handle: HandleId): KeptTensor<K> | undefined {
    return this.#kept.get(handle);
  }

  /** A session that returns what it was given keeps memory of another one. */
  keep(handle: HandleId, tensor: TensorValue, keeper: K): void {
    this.#kept.set(handle, { tensor, keeper });
    if (this.#owners.has(tensor.storage)) this.#otherOwner(tensor, keeper)?.addReader();
    else this.#owners.set(tensor.storage, keeper);
  }

  drop(handle: HandleId): void {
    const kept = this.#kept.get(handle);
    if (kept === undefined) return;
    this.#kept.delete(handle);
    this.#otherOwner(kept.tensor, kept.keeper)?.removeReader();
  }

  #otherOwner({ storage }: TensorValue, keeper: K): K | undefined {
    const owner = this.#owners.get(storage);
    return owner === keeper ? undefined : owner;
  }
}
