import { UnsupportedError } from '../core/errors.ts';
import { isGpuTexture } from '../core/gpu-like.ts';
import { elementCount } from '../core/shape.ts';
import type { HostedSession } from './hosted-session.ts';
import type { ControlRequest, WireResult } from './protocol.ts';

/**
 * A tensor of pictures on the device of a session. Takes bitmaps over; textures stay the page's. Rejects with UnsupportedError on other devices than WebGPU.
 */
export async function preparePictures(
  hosted: HostedSession,
  { pictures, dtype, shape }: Extract<ControlRequest, { kind: 'prepare' }>,
): Promise<WireResult> {
  const { machine } = hosted;
  const { state } = machine.internals();
  const allocator = state.allocator(0);
  const { device } = allocator;
  try {
    if (device.preparePicture === undefined) {
      throw new UnsupportedError({
        where: 'preparePicturesOnDevice',
        got: `a session on ${device.info.name}`,
        expected: 'one on WebGPU',
        remedy: 'preparePictures makes a tensor of pictures for it.',
      });
    }
    const tensor = state.allocateTensor(allocator, { dtype, shape });
    machine.retain(tensor);
    const count = elementCount(shape) / pictures.length;
    try {
      await hosted.device.share(async () => {
        for (const [i, { source, steps }] of pictures.entries()) {
          const firstElement = i * count;
          await device.preparePicture?.(source, { tensor, firstElement, steps });
        }
        await device.settle?.();
      });
    } catch (error) {
      machine.release(tensor);
      throw error;
    }
    return { name: 'pictures', value: await hosted.handOver(tensor) };
  } finally {
    for (const { source } of pictures) if (!isGpuTexture(source)) source.close();
  }
}
