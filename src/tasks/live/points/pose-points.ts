import { sigmoid } from './landmarks.ts';

/** A map of logits for each point, [rows, columns, points]. */
export interface Heatmap {
  readonly logits: ArrayLike<number>;
  readonly width: number;
  readonly height: number;
}

/** Cells on each side of a point that count. */
const REACH = 3;
/** A point stays where it is if no cell around it is as sure. */
const SURE = 0.5;

/**
 * Moves points to where heatmaps see them: to the mean of the cells around them, by their likelihoods. `numbers` has
 * `step` numbers a point, first its place in pixels of the model's picture, whose sides have `side`.
 */
export function refineByHeatmap(
  numbers: ArrayLike<number>,
  { step, side }: { readonly step: number; readonly side: number },
  { logits, width, height }: Heatmap,
): Float64Array {
  const refined = Float64Array.from(numbers);
  const count = Math.floor(numbers.length / step);
  for (let i = 0; i < count; i++) {
    const column = Math.trunc(((numbers[i * step] ?? 0) / side) * width);
    const row = Math.trunc(((numbers[i * step + 1] ?? 0) / side) * height);
    if (column < 0 || column >= width || row < 0 || row >= height) continue;
    let [sum, x, y, most] = [0, 0, 0, 0];
    for (let v = Math.max(row - REACH, 0); v <= Math.min(row + REACH, height - 1); v++) {
      for (let u = Math.max(column - REACH, 0); u <= Math.min(column + REACH, width - 1); u++) {
        const share = sigmoid(logits[(v * width + u) * count + i] ?? 0);
        sum += share;
        x += u * share;
        y += v * share;
        most = Math.max(most, share);
      }
    }
    if (most < SURE) continue;
    refined[i * step] = (x / sum / width) * side;
    refined[i * step + 1] = (y / sum / height) * side;
  }
  return refined;
}
