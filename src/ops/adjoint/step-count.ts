import { type Dim, formatDim } from '../../core/dims/dim.ts';
import { UnsupportedError } from '../../core/errors.ts';

/** The number of steps of a recurrence that is written out. Throws UnsupportedError for a symbol. */
export function stepCount(steps: Dim, where: string): number {
  if (typeof steps === 'number') return steps;
  throw new UnsupportedError({
    where,
    got: `a derivative over ${formatDim(steps)} steps`,
    expected: 'a number of steps that is known when the program is compiled',
    remedy: 'Bind the symbol with dims, or write the loop as a recursive function.',
  });
}
