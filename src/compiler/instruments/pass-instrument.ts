import { fits, listOf } from '../../core/check-options.ts';
import type { Module } from '../ir/expr.ts';
import type { Pass, PassContext } from '../passes/pass.ts';

export interface PassRun {
  readonly pass: string;
  readonly before: Module;
  /** The module that it made; the same object where it changed nothing. */
  readonly after: Module;
  /** Types, operators and texts of the compilation. */
  readonly context: PassContext;
}

/** Watches a compilation: is told of every pass before and after it runs. An error that it throws ends compiling. */
export interface PassInstrument {
  /** Called before a pass runs. */
  beforePass?(run: Omit<PassRun, 'after'>): void;
  /** Called after a pass has run. */
  afterPass?(run: PassRun): void;
}

export const INSTRUMENTS = listOf([
  'with beforePass or afterPass',
  (value) => {
    const { beforePass, afterPass } = Object(value) as Partial<PassInstrument>;
    return fits('function', beforePass ?? afterPass);
  },
]);

/** The pass, with instruments that are told of its runs. */
export function instrumented(pass: Pass, instruments: readonly PassInstrument[]): Pass {
  if (instruments.length === 0) return pass;
  return {
    ...pass,
    run(before, context) {
      for (const instrument of instruments) {
        instrument.beforePass?.({ pass: pass.name, before, context });
      }
      const after = pass.run(before, context);
      // In reverse, so that each instrument is inside those before it.
      for (const instrument of instruments.toReversed()) {
        instrument.afterPass?.({ pass: pass.name, before, after, context });
      }
      return after;
    },
  };
}
