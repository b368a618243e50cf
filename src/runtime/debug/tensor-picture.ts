import type { Shape } from '../../core/tensor/shape.ts';
import type { TensorPicture } from './debug-types.ts';

/** The most pixels along each axis. */
const MAX_PIXELS = 256;
/** Narrower ones are no pictures but rows of numbers. */
const MIN_PIXELS = 4;

interface Layout {
  readonly width: number;
  readonly height: number;
  readonly channels: number;
  /**
   * True if each channel is a plane of its own; false if the channels of a pixel are neighbours.
   */
  readonly isPlanar: boolean;
}

/**
 * The picture that a tensor is by its shape, nearest pixels where it is larger than 256; undefined where it is none. `range` is
 * what is black and what is white.
 */
export function pictureOf(
  numbers: ArrayLike<number>,
  shape: Shape,
  [black, white]: readonly [number, number],
): TensorPicture | undefined {
  const layout = layoutOf(shape);
  if (layout === undefined) return undefined;
  const { channels, isPlanar } = layout;
  const shrink = Math.max(1, layout.width / MAX_PIXELS, layout.height / MAX_PIXELS);
  const [width, height] = [layout.width, layout.height].map((size) =>
    Math.max(1, Math.floor(size / shrink)),
  ) as [number, number];
  const plane = layout.width * layout.height;
  const scale = 255 / (white - black);
  const rgba = new Uint8ClampedArray(width * height * 4).fill(255);
  for (let pixel = 0; pixel < width * height; pixel++) {
    const row = Math.floor(Math.floor(pixel / width) * shrink);
    const place = row * layout.width + Math.floor((pixel % width) * shrink);
    for (let channel = 0; channel < Math.max(3, channels); channel++) {
      const from = channels === 1 ? 0 : channel;
      const element = numbers[isPlanar ? from * plane + place : place * channels + from] ?? 0;
      // Where all elements are the same, that is grey.
      rgba[pixel * 4 + channel] = Number.isFinite(scale) ? (element - black) * scale : 128;
    }
  }
  return { width, height, rgba };
}

function layoutOf(shape: Shape): Layout | undefined {
  const [first, ...rest] = shape;
  const dims = shape.length === 4 && first === 1 ? rest : shape;
  const [a = 0, b = 0, c = 0] = dims;
  if (dims.length === 2) return layout({ height: a, width: b, channels: 1, isPlanar: false });
  if (dims.length !== 3) return undefined;
  if (c === 1 || c === 3 || c === 4) {
    const interleaved = layout({ height: a, width: b, channels: c, isPlanar: false });
    if (interleaved !== undefined) return interleaved;
  }
  if (a !== 1 && a !== 3) return undefined;
  return layout({ height: b, width: c, channels: a, isPlanar: true });
}

function layout(candidate: Layout): Layout | undefined {
  const { width, height } = candidate;
  return width >= MIN_PIXELS && height >= MIN_PIXELS ? candidate : undefined;
}
