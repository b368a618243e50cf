import { tapRange, type WindowAxis } from './window.ts';

/**
 * The taps of a window that begins at `start` which count for a mean: those inside, or with `countsPad`
 * those in the image and its padding; never what is beyond the padding.
 */
export function countedTaps(axis: WindowAxis, start: number, countsPad: boolean): number {
  const [first, end] = tapRange(axis, start);
  if (!countsPad) return end - first;
  const { size, kernel, dilation, padAfter } = axis;
  return Math.min(kernel, Math.ceil((size + padAfter - start) / dilation));
}
