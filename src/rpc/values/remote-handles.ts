import type { DType } from '../../core/tensor/dtype.ts';
import { internalError, UsageError } from '../../core/errors.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { Shape } from '../../core/tensor/shape.ts';
import type { RpcFunction, RpcInput, RpcValue, TensorHandle } from './rpc-value.ts';
import { toRpcValue } from './to-rpc-value.ts';
import { malformed, valueOf } from './wire-values.ts';

/** How a function of the other side is called. */
interface CallOptions {
  /** Cancels the call on the remote. */
  readonly signal?: AbortSignal | undefined;
  /** `device` leaves tensors of the result on the remote and gives handles. Default: `host`. */
  readonly keep?: 'host' | 'device' | undefined;
  /** Bytes of the arguments that were sent so far. */
  readonly onProgress?: ((sentByteLength: number) => void) | undefined;
}

export interface SendOptions extends CallOptions {
  /** All of the call was sent: whatever is sent from now on arrives behind it. */
  readonly onSent?: (() => void) | undefined;
  /** Gets a result that arrives after the call was aborted. Default: its handles are released. */
  readonly discard?: ((late: unknown) => void) | undefined;
}

/** A function that lives on the other side, called like a local one. */
export interface RemoteFunction {
  (...args: RpcInput[]): Promise<RpcValue>;
  /** The name of the function. */
  readonly name: string;
  /** Calls it with options. Rejects with what it throws on the other side. */
  invoke(args: readonly RpcInput[], options?: CallOptions): Promise<RpcValue>;
  /** Lets the other side drop it. */
  release(): void;
}

/** The connection that a handle belongs to. */
export interface HandleOwner {
  call(target: number | string, args: readonly unknown[], options?: SendOptions): Promise<unknown>;
  releaseHandle(id: number): void;
}

interface Handle {
  readonly owner: HandleOwner;
  readonly id: number;
}

const HANDLES = new WeakMap<object, Handle>();

/** The number of a function or tensor that came from this connection's other side. */
export function handleIn(owner: HandleOwner, proxy: object): number | undefined {
  const handle = HANDLES.get(proxy);
  return handle?.owner === owner ? handle.id : undefined;
}

export function isRemote(proxy: object): boolean {
  return HANDLES.has(proxy);
}

export function isRemoteFunction(value: unknown): value is RemoteFunction {
  return typeof value === 'function' && HANDLES.has(value);
}

export function createRemoteFunction(handle: Handle, name: string): RemoteFunction & RpcFunction {
  let isReleased = false;
  const invoke = async (args: readonly RpcInput[], options?: CallOptions): Promise<RpcValue> => {
    if (isReleased) throw released(`the remote function ${name}`);
    return valueOf(await handle.owner.call(handle.id, args.map(toRpcValue), options));
  };
  const proxy = async (...args: RpcInput[]): Promise<RpcValue> => invoke(args);
  Object.defineProperty(proxy, 'name', { value: name });
  const release = (): void => {
    if (isReleased) return;
    isReleased = true;
    handle.owner.releaseHandle(handle.id);
  };
  HANDLES.set(proxy, handle);
  return Object.assign(proxy, { invoke, release });
}

/** Calls a function of the other side that takes and gives data. */
export function callWithData(
  callee: RemoteFunction,
  args: readonly unknown[],
  options?: SendOptions,
): Promise<unknown> {
  const handle = HANDLES.get(callee);
  if (handle === undefined) throw internalError('a function of this side');
  return handle.owner.call(handle.id, args, options);
}

/** A tensor in the memory of a remote device. */
export class RemoteTensor implements TensorHandle {
  /** Tells values apart. */
  readonly kind = 'tensor handle';
  /** The dtype of its elements. */
  readonly dtype: DType;
  /** Its dimensions. */
  readonly shape: Shape;
  readonly #handle: Handle;
  #isReleased = false;

  constructor(handle: Handle, { dtype, shape }: Pick<TensorHandle, 'dtype' | 'shape'>) {
    this.dtype = dtype;
    this.shape = shape;
    this.#handle = handle;
    HANDLES.set(this, handle);
  }

  /** True once {@link release} was called. */
  get isReleased(): boolean {
    return this.#isReleased;
  }

  /** Fetches the elements. */
  async read(): Promise<HostTensor> {
    if (this.#isReleased) throw released('a remote tensor');
    const read = await this.#handle.owner.call('read', [this]);
    if (read instanceof HostTensor) return read;
    throw malformed('a value that is not a tensor');
  }

  /** Frees the memory on the remote. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#handle.owner.releaseHandle(this.#handle.id);
  }
}

function released(what: string): UsageError {
  return new UsageError({
    where: 'remote connection',
    got: `${what}, which was released`,
    expected: 'a handle that is still held',
  });
}
