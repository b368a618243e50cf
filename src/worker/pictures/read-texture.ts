import type { GpuTextureLike } from '../../core/contracts/gpu-like.ts';
import type { AxisWeights, PictureSteps } from '../../core/pictures/picture-steps.ts';
import type { Rgb } from '../../core/pictures/pixels.ts';
import { WEIGHT_BITS } from '../../core/pictures/resample.ts';
import type { HostedSession } from '../host/hosted-session.ts';
import { fitsGpu, prepareOnGpu, tooLarge } from './prepare-on-gpu.ts';

/** Levels from 0 to 255 as elements of uint8. */
const LEVELS = Int32Array.from({ length: 3 * 256 }, (_, i) => i & 255);

/**
 * The pixels of a texture of the page's, as shaders that prepare pictures see them, in one readback. Rejects with UnsupportedError for
 * one that is too large for these.
 */
export async function readTexture(hosted: HostedSession, texture: GpuTextureLike): Promise<Rgb> {
  const { width, height } = texture;
  // Rows of whole words.
  const padded = Math.ceil(width / 4) * 4;
  const shape = [1, height, padded, 3];
  const steps: PictureSteps = {
    source: [width, height],
    resized: [width, height],
    frame: [0, 0, width, height],
    padded: [padded, height],
    rows: unchanged(width),
    columns: unchanged(height),
    fill: [0, 0, 0],
    order: [0, 1, 2],
    levels: LEVELS,
    isGrey: false,
    isLast: true,
    elementSize: 1,
  };
  if (!fitsGpu(steps)) throw tooLarge(texture);
  const tensor = await prepareOnGpu(hosted, [{ source: texture, steps }], {
    dtype: 'uint8',
    shape,
  });
  try {
    const [host] = await hosted.device.share(() => hosted.machine.read([tensor]));
    const read = host?.data as Uint8Array;
    if (padded === width) return { width, height, data: read };
    const data = new Uint8Array(width * height * 3);
    for (let y = 0; y < height; y++) {
      const from = y * padded * 3;
      data.set(read.subarray(from, from + width * 3), y * width * 3);
    }
    return { width, height, data };
  } finally {
    hosted.machine.release(tensor);
  }
}

function unchanged(length: number): AxisWeights {
  const first = Int32Array.from({ length }, (_, i) => i);
  return { first, taps: 1, weights: new Int32Array(length).fill(2 ** WEIGHT_BITS) };
}
