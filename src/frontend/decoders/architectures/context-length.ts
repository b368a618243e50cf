import { UsageError } from '../../../core/errors.ts';
import type { ModelFacts } from './model-facts.ts';

/** The positions that a decoder is made for: those that are asked for, else all that the model has. */
export function contextOf({ file }: ModelFacts, most: number): number {
  const { askedContext, where } = file;
  if (askedContext === undefined) return most;
  if (Number.isInteger(askedContext) && askedContext > 0 && askedContext <= most) {
    return askedContext;
  }
  throw new UsageError({
    where: `${where}, option contextLength`,
    got: String(askedContext),
    expected: `an integer from 1 to ${most}, the model's context`,
  });
}
