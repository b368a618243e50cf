import { CompileLimitError } from '../../core/errors.ts';
import { countWork } from '../../core/limits/work-meter.ts';
import { type Expression, partsOf } from './expression.ts';

/** Repetitions are written out, so a short grammar can be a large automaton: parts of it, and states. */
export const MAX_PART_COUNT = 300_000;

/** An expression with repetitions and inlined rules written out. */
export interface Measure {
  /** About the number of states that it needs. */
  readonly size: number;
  /** Parts inside each other. */
  readonly depth: number;
}

const LEAF: Measure = { size: 1, depth: 1 };

/** @param inlined Measures of the rules that are inlined. */
export function measure(
  expression: Expression,
  inlined: ReadonlyMap<string, Measure> = new Map(),
): Measure {
  countWork();
  if (expression.kind === 'text') return { size: expression.text.length, depth: 1 };
  if (expression.kind === 'rule') return inlined.get(expression.name) ?? LEAF;
  if (expression.kind === 'character' || expression.kind === 'counted') return LEAF;
  let [size, depth] = [0, 0];
  for (const part of partsOf(expression)) {
    const of = measure(part, inlined);
    size += of.size;
    depth = Math.max(depth, of.depth);
  }
  const copies = expression.kind === 'repeat' ? copiesOf(expression) : 1;
  return { size: copies * size, depth: depth + 1 };
}

/** How often the body of a repetition is written out. */
export function copiesOf({ min, max }: Expression & { kind: 'repeat' }): number {
  return max === Number.POSITIVE_INFINITY ? min + 1 : max;
}

/** Gives an expression back, or throws CompileLimitError with the place for one that alone is too large. */
export function requireSize(expression: Expression, where: string): Expression {
  const { size } = measure(expression);
  if (size <= MAX_PART_COUNT) return expression;
  throw tooLarge(where, `${size} parts`);
}

export function tooLarge(where: string, got: string): CompileLimitError {
  return new CompileLimitError({
    where,
    got: `${got}, with repetitions written out`,
    expected: `at most ${MAX_PART_COUNT}`,
    remedy: 'Use smaller numbers of repetitions, or * and +, which need one part.',
  });
}
