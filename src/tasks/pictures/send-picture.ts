import type { Session } from '../../client/session.ts';
import { UnsupportedError } from '../../core/errors.ts';
import { isGpuTexture } from '../../core/contracts/gpu-like.ts';
import type { PictureSource } from '../../core/pictures/picture-source.ts';
import { channelsOf, isPixels, type Pixels } from '../../core/pictures/pixels.ts';
import type { ControlReply } from '../../worker/protocol/control-request.ts';
import type { Picture } from './pixels.ts';
import { fetched, readRgb } from './pixels.ts';

/** A picture on its way to a session, and what is handed over with it. */
interface SentPicture {
  readonly source: PictureSource;
  readonly transfers: readonly Transferable[];
}

/**
 * A picture for a session, as it is now: an ImageBitmap, which is handed over; the bytes of pixels, which crossing to the worker copies;
 * or a texture, for a session on WebGPU. Where no bitmap is made of a picture its pixels are read in this thread. Rejects as `readRgb`
 * does.
 */
export async function sentPicture(
  session: Session,
  given: Picture,
  where = 'picture',
): Promise<SentPicture> {
  const picture = await fetched(given);
  if (isGpuTexture(picture)) {
    if (session.device.kind === 'webgpu') return { source: picture, transfers: [] };
    throw new UnsupportedError({
      where,
      got: `a GPUTexture for a session on ${session.device.name}`,
      expected: 'a session on the device of the texture',
      remedy: "Load the session with { worker: false, device: 'webgpu', gpu: device }.",
    });
  }
  if (isPixels(picture)) {
    channelsOf(picture, where);
    return sentPixels(picture);
  }
  const bitmap = await bitmapOf(picture);
  return bitmap
    ? { source: bitmap, transfers: [bitmap] }
    : sentPixels(await readRgb(picture, where));
}

/** Undefined where nothing makes one, or another one than is drawn. */
async function bitmapOf(picture: ImageBitmapSource): Promise<ImageBitmap | undefined> {
  if (typeof createImageBitmap !== 'function') return undefined;
  const bitmap = await createImageBitmap(picture).catch(() => undefined);
  // The size of an image element goes by the density that the page says that it has.
  const isOther = 'naturalWidth' in picture && bitmap?.width !== picture.naturalWidth;
  if (!isOther) return bitmap;
  bitmap?.close();
  return undefined;
}

/**
 * Pixels that may be transferred: where they are a part of a larger buffer, a copy of that part.
 */
function sentPixels({ width, height, data }: Pixels): SentPicture {
  if (data.byteLength === data.buffer.byteLength) {
    return { source: { width, height, data }, transfers: [] };
  }
  const own = data.slice();
  return { source: { width, height, data: own }, transfers: [own.buffer] };
}

/** Frees pictures that were not taken over; it is no error for those that were. */
export function discardPictures(pictures: readonly SentPicture[]): void {
  for (const { source } of pictures) if ('close' in source) source.close();
}

/**
 * The session's reply about pictures. Where it fails, releases the pictures, and explains a texture
 * that cannot be sent there.
 */
export async function replyOf(
  reply: Promise<ControlReply>,
  pictures: readonly SentPicture[],
): Promise<ControlReply> {
  try {
    return await reply;
  } catch (error) {
    discardPictures(pictures);
    if (!pictures.some(({ source }) => isGpuTexture(source))) throw error;
    throw (await import('../../client/values/gpu-buffers.ts')).explainCrossing(error, 'GPUTexture');
  }
}
