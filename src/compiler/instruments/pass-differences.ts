import { printModule } from '../ir/text/print.ts';
import { differenceOfTexts } from './difference-of-texts.ts';
import type { PassInstrument } from './pass-instrument.ts';

/**
 * An instrument that tells what each pass changed: the lines of the program as text that it took away
 * (`-`) and added (`+`), with lines around them. Passes that change nothing are not told of.
 */
export function passDifferences(
  onDifference: (pass: string, difference: string) => void,
): PassInstrument {
  return {
    afterPass({ pass, before, after }) {
      if (after === before) return;
      const difference = differenceOfTexts(printModule(before), printModule(after));
      if (difference !== '') onDifference(pass, difference);
    },
  };
}
