import { isGpuTexture } from '../../core/contracts/gpu-like.ts';
import { isPixels } from '../../core/pictures/pixels.ts';
import { fetched, type Picture } from '../pictures/pixels.ts';

/** A picture that shows the same however often it is asked for. */
interface StillPicture {
  readonly picture: Picture;
  /** Frees what was made for it. */
  free(): void;
}

/** The frame that a video or a canvas shows now; a file decoded once. Pixels and textures are still already. */
export async function stillOf(given: Picture): Promise<StillPicture> {
  const picture = await fetched(given);
  const isStill = isPixels(picture) || isGpuTexture(picture);
  if (isStill || typeof createImageBitmap !== 'function') {
    return { picture, free: () => undefined };
  }
  const bitmap = await createImageBitmap(picture).catch(() => undefined);
  return { picture: bitmap ?? picture, free: () => bitmap?.close() };
}
