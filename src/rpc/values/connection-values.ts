import { UsageError } from '../../core/errors.ts';
import { foldParts } from '../../core/contracts/value-fold.ts';
import { LimitError } from '../errors.ts';
import { ExportTable, ImportTable } from './handle-table.ts';
import type { RpcLimits } from '../limits.ts';
import {
  createRemoteFunction,
  handleIn,
  type HandleOwner,
  isRemote,
  RemoteTensor,
} from './remote-handles.ts';
import {
  isRpcValue,
  RPC_SIDE,
  type RpcFunction,
  type RpcTarget,
  type TensorHandle,
} from './rpc-value.ts';
import { targetOf } from '../targets.ts';
import {
  decodeValues,
  type EncodedValues,
  encodeValues,
  type HandleNames,
  malformed,
  type WireValues,
} from './wire-values.ts';

interface ConnectionValuesOptions {
  /** The connection that received handles belong to. */
  readonly owner: HandleOwner;
  readonly limits: RpcLimits;
  /** Tells the other side that this one holds a handle no more, which it received so often. */
  readonly sendRelease: (handle: number, count: number) => void;
}

/** The values of one connection: what crosses by value, and what both sides hold for each other. */
export class ConnectionValues implements HandleNames {
  readonly #owner: HandleOwner;
  readonly #limits: RpcLimits;
  readonly #exports: ExportTable;
  readonly #imports: ImportTable;

  constructor({ owner, limits, sendRelease }: ConnectionValuesOptions) {
    this.#owner = owner;
    this.#limits = limits;
    this.#exports = new ExportTable(limits.handles);
    this.#imports = new ImportTable(sendRelease);
  }

  counters() {
    return { handlesHeldForPeer: this.#exports.size, handlesHeldByPeer: this.#imports.size };
  }

  /**
   * Values for a message. Throws LimitError and UsageError; handles that were counted for a message which
   * cannot be sent are taken back.
   */
  encode(values: readonly unknown[]): EncodedValues {
    const counted: number[] = [];
    const record = (exported: { id: number; isTheirs: boolean }) => {
      if (!exported.isTheirs) counted.push(exported.id);
      return exported;
    };
    const names: HandleNames = {
      exportFunction: (callee) => record(this.exportFunction(callee)),
      exportTensor: (tensor) => record(this.exportTensor(tensor)),
      own: (id) => this.own(id),
      importFunction: (id, name) => this.importFunction(id, name),
      importTensor: (id, view) => this.importTensor(id, view),
    };
    try {
      const encoded = encodeValues(values, names);
      const byteLength = encoded.blobs.reduce((sum, blob) => sum + blob.byteLength, 0);
      if (byteLength > this.#limits.messageBytes) throw tooLarge(byteLength, this.#limits);
      return encoded;
    } catch (error) {
      for (const id of counted) this.#exports.release(id, 1);
      throw error;
    }
  }

  /**
   * Encodes as {@link encode} does, for a value that nobody holds if it cannot be sent: then it is
   * released.
   */
  encodeResult(value: unknown): EncodedValues {
    try {
      return this.encode([value]);
    } catch (error) {
      releaseAll(
        value,
        (each) => handleIn(this.#owner, each) !== undefined || this.#exports.has(each),
      );
      throw error;
    }
  }

  /** Throws ProtocolError, or UsageError for a handle that was released. */
  decode(values: WireValues, blobs: readonly Uint8Array[]): unknown[] {
    return decodeValues(values, blobs, { names: this, maxBytes: this.#limits.messageBytes });
  }

  /** An object that the other side calls by a handle. */
  target(id: number): RpcTarget {
    const exported = this.#exports.get(id);
    if ('call' in exported) return exported;
    throw malformed('a call of a tensor');
  }

  /** The other side drops what it received so often. */
  release(id: number, count: number): void {
    this.#exports.release(id, count);
  }

  /** This side drops what it got. */
  drop(id: number): void {
    this.#imports.release(id);
  }

  /** Takes a local function or tensor away from the other side. */
  revoke(exported: object): void {
    this.#exports.revoke(exported);
  }

  clear(): void {
    this.#imports.clear();
    this.#exports.clear();
  }

  exportFunction(callee: RpcFunction): { id: number; isTheirs: boolean } {
    const id = handleIn(this.#owner, callee);
    if (id !== undefined) return { id, isTheirs: true };
    return { id: this.#exports.add(callee, () => targetOf(callee)), isTheirs: false };
  }

  exportTensor(tensor: TensorHandle): { id: number; isTheirs: boolean } {
    const id = handleIn(this.#owner, tensor);
    if (id !== undefined) return { id, isTheirs: true };
    if (isRemote(tensor) || !('release' in tensor)) {
      throw new UsageError({
        where: 'remote call',
        got: 'a tensor that lives on another remote',
        expected: 'a tensor of this remote, or one by value',
        remedy: 'Read it first: `await tensor.read()`.',
      });
    }
    const held = tensor as TensorHandle & { release(): void };
    return { id: this.#exports.add(tensor, () => held), isTheirs: false };
  }

  own(id: number): RpcFunction | TensorHandle {
    return this.#exports.key(id) as RpcFunction | TensorHandle;
  }

  importFunction(id: number, name: string): RpcFunction {
    return this.#imports.get(id, () => createRemoteFunction({ owner: this.#owner, id }, name));
  }

  importTensor(id: number, view: Pick<TensorHandle, 'dtype' | 'shape'>): TensorHandle {
    return this.#imports.get(id, () => new RemoteTensor({ owner: this.#owner, id }, view));
  }
}

/** Handles of a value that nobody takes, but for those that `isHeld`. Data has none, or who made it drops them. */
export function releaseAll(
  root: unknown,
  isHeld: (exported: object) => boolean = () => false,
): void {
  if (!isRpcValue(root)) return;
  const releaseEach = foldParts(RPC_SIDE.partsOf, (value) => {
    if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return;
    if (isHeld(value)) return;
    if ('release' in value && typeof value.release === 'function') value.release();
    else if (typeof value === 'function') targetOf(value).release();
  });
  releaseEach(root);
}

function tooLarge(byteLength: number, { messageBytes }: RpcLimits): LimitError {
  return new LimitError({
    where: 'remote call',
    got: `tensors of ${byteLength} bytes in one message`,
    expected: `at most ${messageBytes}`,
    remedy: 'Send them in several calls, or raise limits.messageBytes on both sides.',
  });
}
