import { activate } from './labels.ts';

/** A class of a thing, and how sure a model is of it. */
export interface ClassScore {
  readonly index: number;
  /** How likely the class is, from 0 to 1. */
  readonly score: number;
}

/** The highest of some numbers, of equal ones the first. */
export function likeliest(scores: ArrayLike<number>): ClassScore {
  let index = 0;
  for (let i = 1; i < scores.length; i++) if ((scores[i] ?? 0) > (scores[index] ?? 0)) index = i;
  return { index, score: scores[index] ?? 0 };
}

/** The likeliest class by softmax of numbers for classes and, at their end, nothing; undefined for nothing. */
export function likeliestThing(logits: ArrayLike<number>): ClassScore | undefined {
  const found = likeliest(activate(logits, 'softmax'));
  return found.index === logits.length - 1 ? undefined : found;
}
