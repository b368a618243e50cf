import type { DType } from '../core/dtype.ts';
import type { Shape } from '../core/shape.ts';
import type { HandleId } from '../worker/protocol.ts';
import { checkOptions, SIGNAL_OPTIONS } from './check-options.ts';
import type { Tensor } from './tensor.ts';

/** The part of a session that its {@link DeviceTensor}s need. */
export interface HandleOwner {
  readHandle(handle: HandleId, signal: AbortSignal | undefined): Promise<Tensor>;
  releaseHandle(handle: HandleId): void;
  /** Whether a tensor of another owner lies where this one computes. */
  accepts(owner: HandleOwner): boolean;
}

/**
 * A result that stayed on the session's device (`keep: 'device'`). Feed it to further runs of the
 * same session, or of others on the same device, and dispose of it: its memory is held until then, or until the session is.
 */
export class DeviceTensor {
  /** The dtype of its elements. */
  readonly dtype: DType;
  /** Its dimensions. */
  readonly shape: Shape;
  /** @internal For the session only. */
  readonly owner: HandleOwner;
  /** @internal For the session only. Undefined after {@link dispose}. */
  handle: HandleId | undefined;

  /** @internal */
  constructor(owner: HandleOwner, handle: HandleId, type: { dtype: DType; shape: Shape }) {
    this.owner = owner;
    this.handle = handle;
    this.dtype = type.dtype;
    this.shape = type.shape;
  }

  /** Copies the elements to the page. Rejects with UsageError after {@link dispose}. */
  async read(options: { signal?: AbortSignal } = {}): Promise<Tensor> {
    checkOptions('DeviceTensor.read', options, SIGNAL_OPTIONS);
    return this.owner.readHandle(this.handle ?? -1, options.signal);
  }

  /** Frees the device memory, after runs that already use it. Idempotent. */
  dispose(): void {
    if (this.handle !== undefined) this.owner.releaseHandle(this.handle);
    this.handle = undefined;
  }
}
