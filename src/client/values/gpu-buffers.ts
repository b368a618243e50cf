import { ALL_DTYPES, type DType } from '../../core/tensor/dtype.ts';
import { internalError, UnsupportedError, UsageError } from '../../core/errors.ts';
import type { GpuBufferLike } from '../../core/contracts/gpu-like.ts';
import type { Shape } from '../../core/tensor/shape.ts';
import { checkOptions, oneOf, type OptionKinds } from '../../core/check-options.ts';
import { DeviceTensor, type HandleOwner } from './device-tensor.ts';

/** The elements of a buffer as a tensor. */
export interface GpuTensor {
  /** The dtype of the elements, which lie row by row; a bool takes 4 bytes. */
  readonly dtype: DType;
  /** Its dimensions. */
  readonly shape: Shape;
  /** Where they begin, a multiple of 256. Default 0. */
  readonly byteOffset?: number;
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const GPU_TENSOR: OptionKinds<GpuTensor> = {
  dtype: oneOf(...ALL_DTYPES),
  shape: [
    'a list of integers from 0 up',
    (value) => Array.isArray(value) && value.every((dim) => isCount(dim)),
  ],
  byteOffset: ['an integer from 0 up', isCount],
};

/** See `Session.fromGpuBuffer`. */
export async function fromGpuBuffer(
  session: HandleOwner,
  buffer: GpuBufferLike,
  tensor: GpuTensor,
): Promise<DeviceTensor> {
  checkOptions('fromGpuBuffer', tensor, GPU_TENSOR);
  const { dtype, shape, byteOffset = 0 } = tensor;
  if (dtype === undefined || shape === undefined) {
    const got = JSON.stringify(tensor);
    throw new UsageError({ where: 'fromGpuBuffer', got, expected: 'a dtype and a shape' });
  }
  const place = { dtype, shape: [...shape], byteOffset };
  const reply = session.control({ kind: 'adopt', buffer, ...place, args: [] });
  const { results } = await reply.catch((error: unknown) => {
    throw explainCrossing(error, 'GPUBuffer');
  });
  const value = results[0]?.value;
  if (value?.kind !== 'handle') throw internalError('no tensor of a buffer');
  return new DeviceTensor(session, value.handle, place);
}

/**
 * The error for an object that cannot be sent to a session in another thread; other errors as they
 * are.
 */
export function explainCrossing(error: unknown, kind: 'GPUBuffer' | 'GPUTexture'): unknown {
  if ((error as Partial<Error> | null)?.name !== 'DataCloneError') return error;
  return new UnsupportedError(
    {
      where: 'Session',
      got: `a ${kind}, which no browser lets go to another thread`,
      expected: 'a session in the thread of its device',
      remedy: "Load the session with { worker: false, device: 'webgpu', gpu: device }.",
    },
    { cause: error },
  );
}
