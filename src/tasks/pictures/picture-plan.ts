import type { EdgeSize, PictureOptions, Size } from './picture-options.ts';

/** A rectangle that a picture is put onto; beyond its own edges it is cut off. */
interface Frame extends Size {
  /** Columns to the left of the picture; below 0 what is cut off. */
  readonly left: number;
  /** Rows above the picture; below 0 what is cut off. */
  readonly top: number;
}

/** The sizes that a picture goes through when it is prepared. */
export interface PicturePlan {
  readonly resized: Size;
  /** Where the resized picture lies in the one that the model gets. */
  readonly frame: Frame;
  /** The size of that with its zeros. */
  readonly padded: Size;
}

/** Computes sizes as the image processors of @huggingface/transformers do, where they have such options. */
export function picturePlan(source: Size, options: PictureOptions): PicturePlan {
  const { crop, pad } = options;
  const resized = resizedSize(source, options);
  const fitted = fittedFrame(resized, options);
  const frame = crop === undefined ? fitted : croppedFrame(fitted, sized(crop));
  const { width, height } = frame;
  const padded =
    pad === undefined
      ? { width, height }
      : typeof pad === 'number'
        ? { width: Math.ceil(width / pad) * pad, height: Math.ceil(height / pad) * pad }
        : { width: Math.max(width, pad.width), height: Math.max(height, pad.height) };
  return { resized, frame, padded };
}

const sized = (size: number | Size): Size =>
  typeof size === 'number' ? { width: size, height: size } : size;

function isEdge(size: number | Size | EdgeSize): size is EdgeSize {
  return typeof size === 'object' && !('width' in size);
}

function resizedSize(source: Size, { size, fit, multipleOf = 1 }: PictureOptions): Size {
  const wanted = size === undefined ? source : isEdge(size) ? edgeSize(source, size) : sized(size);
  const whole = {
    width: wholeMultiple(wanted.width, multipleOf),
    height: wholeMultiple(wanted.height, multipleOf),
  };
  if (fit !== 'cover' && fit !== 'contain') return whole;
  const factors = [whole.width / source.width, whole.height / source.height];
  const factor = fit === 'cover' ? Math.max(...factors) : Math.min(...factors);
  return {
    width: Math.max(Math.round(source.width * factor), 1),
    height: Math.max(Math.round(source.height * factor), 1),
  };
}

function wholeMultiple(side: number, multipleOf: number): number {
  return Math.max(Math.floor(side / multipleOf), 1) * multipleOf;
}

/** `get_resize_output_image_size` for edges; two decimals keep 223.99999 from becoming 223. */
function edgeSize({ width, height }: Size, { shortestEdge, longestEdge }: EdgeSize): Size {
  const short =
    shortestEdge === undefined ? 1 : Math.max(shortestEdge / width, shortestEdge / height);
  const scaled = [width * short, height * short] as const;
  const long =
    longestEdge === undefined ? 1 : Math.min(longestEdge / scaled[0], longestEdge / scaled[1]);
  const whole = (side: number): number => Math.max(Math.floor(Number((side * long).toFixed(2))), 1);
  return { width: whole(scaled[0]), height: whole(scaled[1]) };
}

function fittedFrame(resized: Size, options: PictureOptions): Frame {
  const { size, fit = 'stretch', position = 'center', multipleOf = 1 } = options;
  if (fit === 'stretch' || size === undefined || isEdge(size))
    return { ...resized, left: 0, top: 0 };
  const { width, height } = sized(size);
  const whole = {
    width: wholeMultiple(width, multipleOf),
    height: wholeMultiple(height, multipleOf),
  };
  const isAtTop = fit === 'contain' && position === 'top left';
  return {
    ...whole,
    left: isAtTop ? 0 : Math.floor((whole.width - resized.width) / 2),
    top: isAtTop ? 0 : Math.floor((whole.height - resized.height) / 2),
  };
}

/** The middle, towards the top left where it is half a pixel off. */
function croppedFrame(frame: Frame, { width, height }: Size): Frame {
  return {
    width,
    height,
    left: frame.left - Math.floor((frame.width - width) / 2),
    top: frame.top - Math.floor((frame.height - height) / 2),
  };
}
