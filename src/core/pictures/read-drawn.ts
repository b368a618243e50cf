import { UsageError } from '../errors.ts';

/** Returns true where pictures can be drawn, in a page or a worker of one. */
export const drawsPictures = (): boolean => typeof OffscreenCanvas !== 'undefined';

/** A canvas that is read. Throws UsageError where there is none of two dimensions. */
export function readCanvas(width: number, height: number): OffscreenCanvasRenderingContext2D {
  const made = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true });
  if (made === null) throw new UsageError('This page has no 2D canvas to read a picture with.');
  return made;
}

/** The pixels of a picture of the page at a size, in sRGB, not premultiplied. */
export function readDrawn(picture: CanvasImageSource, width: number, height: number): ImageData {
  const target = readCanvas(width, height);
  target.drawImage(picture, 0, 0, width, height);
  try {
    return target.getImageData(0, 0, width, height);
  } catch (cause) {
    if (!(cause instanceof DOMException && cause.name === 'SecurityError')) throw cause;
    const complaint = {
      where: 'picture',
      got: 'one of another origin, which the browser lets nobody read',
      expected: 'one that may be read',
      remedy: 'Set crossOrigin = "anonymous" before src; the server has to allow it by CORS.',
    };
    throw new UsageError(complaint, { cause });
  }
}
