import type { DType } from '../../core/tensor/dtype.ts';
import type { Shape } from '../../core/tensor/shape.ts';
import type {
  ControlReply,
  ControlRequest,
  GpuRange,
} from '../../worker/protocol/control-request.ts';
import type { HandleId } from '../../worker/protocol/reply.ts';
import { checkOptions } from '../../core/check-options.ts';
import type { Tensor } from './tensor.ts';

/** The part of a session that its {@link DeviceTensor}s need. */
export interface HandleOwner {
  readHandle(handle: HandleId, signal: AbortSignal | undefined): Promise<Tensor>;
  releaseHandle(handle: HandleId): void;
  control(
    request: ControlRequest,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<ControlReply>;
  /** Returns true if runs of this owner can take tensors of the other one. */
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
    checkOptions('DeviceTensor.read', options, { signal: 'signal' });
    return this.owner.readHandle(this.handle ?? -1, options.signal);
  }

  /**
   * The buffer that the elements lie in, of a session on the page's own device (`gpu` of `Session.load`): nothing is copied. What
   * the session was told to compute is submitted, so what the page submits from now on sees the result. Read it until the tensor is
   * disposed of; the memory serves other runs then. Do not write, map or destroy it. Rejects with UsageError after {@link dispose}, with
   * UnsupportedError for a tensor that lies elsewhere.
   */
  async gpuBuffer(): Promise<GpuRange> {
    const { handle = -1, dtype, shape } = this;
    const { range } = await this.owner.control({
      kind: 'expose',
      args: [{ kind: 'handle', handle, dtype, shape }],
    });
    return range as GpuRange;
  }

  /** Frees the device memory, after runs that already use it. Idempotent. */
  dispose(): void {
    if (this.handle !== undefined) this.owner.releaseHandle(this.handle);
    this.handle = undefined;
  }
}
