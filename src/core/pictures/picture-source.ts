import type { GpuTextureLike } from '../contracts/gpu-like.ts';
import type { Pixels } from './pixels.ts';

/** A picture as it goes to a session. Textures go to one in the page's thread alone. */
export type PictureSource = ImageBitmap | Pixels | GpuTextureLike;
