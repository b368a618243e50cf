import type { DType } from '../../core/tensor/dtype.ts';
import { UnsupportedError } from '../../core/errors.ts';
import { isGpuTexture } from '../../core/contracts/gpu-like.ts';
import type { PictureSource } from '../../core/pictures/picture-source.ts';
import type { PictureSteps } from '../../core/pictures/picture-steps.ts';
import { elementCount, type Shape } from '../../core/tensor/shape.ts';
import type { TensorValue } from '../../runtime/values/value.ts';
import type { HostedSession } from '../host/hosted-session.ts';

/** The limits that WebGPU has everywhere: pixels along a side of a texture, bytes of a binding. */
const MOST_SIDE = 8192;
const MOST_BYTES = 2 ** 27;

/**
 * Returns true if the shaders can prepare a picture: it is small enough, and its elements are whole
 * words.
 */
export function fitsGpu({ source, resized, padded, order, elementSize }: PictureSteps): boolean {
  const byteLength = order.length * padded[0] * padded[1] * elementSize;
  const isSmall = Math.max(...source) <= MOST_SIDE && resized[0] * source[1] * 4 <= MOST_BYTES;
  return isSmall && byteLength % 4 === 0 && byteLength <= MOST_BYTES;
}

/** Returns true for a picture that is no larger than textures are everywhere. */
export const isSmallEnough = ({ width, height }: { width: number; height: number }): boolean =>
  Math.max(width, height) <= MOST_SIDE;

/** Returns true if the device of a session prepares pictures itself. */
export function hasShaders({ machine }: HostedSession): boolean {
  return machine.internals().state.allocator(0).device.pictures !== undefined;
}

/** A texture that cannot be read. */
export function tooLarge({ width, height }: { width: number; height: number }): UnsupportedError {
  return new UnsupportedError({
    where: 'GPUTexture',
    got: `${width} x ${height} pixels`,
    expected: `at most ${MOST_SIDE} along a side, and ${MOST_BYTES / 4} in all`,
    remedy: 'Draw it into a smaller texture.',
  });
}

/** A picture that fits, and what becomes of it. */
interface FittingPicture {
  readonly source: PictureSource;
  readonly steps: PictureSteps;
}

/**
 * A tensor of pictures, made by shaders. The caller owns one reference. Rejects with UnsupportedError for a texture on another device
 * than WebGPU.
 */
export async function prepareOnGpu(
  { machine, device: shared }: HostedSession,
  pictures: readonly FittingPicture[],
  { dtype, shape }: { readonly dtype: DType; readonly shape: Shape },
): Promise<TensorValue> {
  const { state } = machine.internals();
  const allocator = state.allocator(0);
  const { device } = allocator;
  const { pictures: prepared, queue } = device;
  if (prepared === undefined) {
    const kind = pictures.some(({ source }) => isGpuTexture(source)) ? 'GPUTexture' : 'picture';
    throw new UnsupportedError({
      where: kind,
      got: `a session on ${device.info.name}`,
      expected: 'one on WebGPU',
    });
  }
  const tensor = state.allocateTensor(allocator, { dtype, shape });
  machine.retain(tensor);
  const count = elementCount(shape) / pictures.length;
  try {
    await shared.share(async () => {
      for (const [i, { source, steps }] of pictures.entries()) {
        await prepared.prepare(source, { tensor, firstElement: i * count, steps });
      }
      await queue?.settle();
    });
  } catch (error) {
    machine.release(tensor);
    throw error;
  }
  return tensor;
}
