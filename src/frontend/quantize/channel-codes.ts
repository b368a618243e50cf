import type { Shape } from '../../core/shape.ts';
import { elementCount } from '../../core/shape.ts';

/** A tensor of int8 whose zero is 0, with a scale for each index of an axis. */
export interface ChannelCodes {
  readonly codes: Int8Array<ArrayBuffer>;
  readonly scales: Float32Array<ArrayBuffer>;
}

/** Codes from -127 to 127: the element of a channel that is farthest from 0 is 127 scales from it. */
export function codeChannels(
  values: ArrayLike<number>,
  {
    shape,
    axis,
    roundScale,
  }: { shape: Shape; axis: number; roundScale: (scale: number) => number },
): ChannelCodes {
  const count = shape[axis] ?? 1;
  const inner = elementCount(shape.slice(axis + 1));
  const farthest = new Float32Array(count);
  const channelOf = (i: number): number => Math.floor(i / inner) % count;
  for (let i = 0; i < values.length; i++) {
    const size = Math.abs(values[i] ?? 0);
    if (size > (farthest[channelOf(i)] ?? 0)) farthest[channelOf(i)] = size;
  }
  // Where all elements are zero any scale does; 0 is none that ONNX allows.
  const scales = farthest.map((size) => roundScale(size / 127) || 1);
  const codes = new Int8Array(values.length);
  for (let i = 0; i < codes.length; i++) {
    const code = Math.round((values[i] ?? 0) / (scales[channelOf(i)] ?? 1));
    codes[i] = Math.max(-127, Math.min(127, code));
  }
  return { codes, scales };
}

/** The elements that codes stand for. */
export function decodeChannels(
  { codes, scales }: ChannelCodes,
  { shape, axis }: { readonly shape: Shape; readonly axis: number },
): Float32Array<ArrayBuffer> {
  const inner = elementCount(shape.slice(axis + 1));
  return Float32Array.from(
    codes,
    (code, i) => code * (scales[Math.floor(i / inner) % scales.length] ?? 0),
  );
}
