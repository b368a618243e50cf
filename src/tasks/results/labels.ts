import { checkOptions, oneOf, requireKind } from '../../core/check-options.ts';
import { UsageError } from '../../core/errors.ts';

/** A class and how sure the model is of it. */
export interface LabelScore {
  /** Its name, or its number as text for a model without names. */
  readonly label: string;
  /** Its place among the model's classes. */
  readonly index: number;
  /** The model's number for it: from 0 to 1 after softmax or sigmoid. */
  readonly score: number;
}

/** How numbers of a model become scores. */
export type Activation = 'softmax' | 'sigmoid' | 'none';

export const ACTIVATION = oneOf('softmax', 'sigmoid', 'none');

/** Scores of one example. Softmax and sigmoid are computed in doubles. */
export function activate(values: ArrayLike<number>, activation: Activation): Float64Array {
  requireKind('activate', 'numbers', ['values that are', values]);
  requireKind('activate', ACTIVATION, ['the activation', activation]);
  const out = Float64Array.from(values);
  if (activation === 'none') return out;
  if (activation === 'sigmoid') return out.map((value) => 1 / (1 + Math.exp(-value)));
  const most = out.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  let sum = 0;
  for (let i = 0; i < out.length; i++) {
    out[i] = Math.exp((out[i] ?? 0) - most);
    sum += out[i] ?? 0;
  }
  return out.map((value) => value / sum);
}

/**
 * True for numbers of one example that are probabilities already, as a model that ends with softmax
 * gives them: none negative, and their sum 1, as far as float16 or codes of 8 bits keep it.
 */
export function areProbabilities(values: ArrayLike<number>): boolean {
  requireKind('areProbabilities', 'numbers', ['values that are', values]);
  const list = Array.from(values);
  if (!list.every((value) => value >= 0 && value <= 1 + FLOAT16_ROUNDING)) return false;
  const sum = list.reduce((all, value) => all + value, 0);
  // Each code is off by half a step at most; of many small ones all may be 0.
  const rounding = areCodes(list) && sum > 0 ? list.length / 512 : 0;
  return Math.abs(sum - 1) < Math.max(rounding, FLOAT16_ROUNDING);
}

const FLOAT16_ROUNDING = 1e-3;

/** True for multiples of 1/256 or 1/255, the scales of probabilities in 8 bits. */
function areCodes(list: readonly number[]): boolean {
  return [256, 255].some((steps) =>
    list.every((value) => Math.abs(value * steps - Math.round(value * steps)) < 1e-3),
  );
}

/** The highest scores, the highest first; of equal ones the first class first. */
export function topLabels(
  scores: ArrayLike<number>,
  options: { readonly topK?: number; readonly labels?: readonly string[] | undefined } = {},
): LabelScore[] {
  requireKind('topLabels', 'numbers', ['scores that are', scores]);
  checkOptions('topLabels', options, { topK: 'count', labels: 'names' });
  const { topK = 5, labels } = options;
  requireLabels(labels, scores.length);
  const order = Array.from(scores, (score, index) => ({ score, index }));
  order.sort((a, b) => b.score - a.score || a.index - b.index);
  return order.slice(0, topK).map(({ score, index }) => ({
    label: labels?.[index] ?? String(index),
    index,
    score,
  }));
}

/** Throws UsageError unless there is a name for each class. */
export function requireLabels(labels: readonly string[] | undefined, count: number): void {
  if (labels === undefined || labels.length === count) return;
  throw new UsageError({
    where: 'labels',
    got: `${labels.length} names`,
    expected: `${count}, one for each class of the model`,
    remedy: 'Give the option labels, or id2label in config.json, in the order of the classes.',
  });
}
