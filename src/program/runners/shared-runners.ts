import type { Module } from '../../compiler/ir/expr.ts';
import { LeastRecent } from './least-recent.ts';
import { moduleText, Runner, RUNNER_OPTIONS, type RunnerOptions, setDefaults } from './runner.ts';
import { checkOptions, requireCount } from '../../core/check-options.ts';

/**
 * As many computations stay compiled beside programs: those of eager arrays and of transformed functions. A further one
 * takes the place of the one that was used longest ago.
 */
export const MOST_SHARED = 256;

const SHARED = new LeastRecent<Runner>(MOST_SHARED, (runner) => runner.retire());

/** The runner of a computation, compiled once for all that have its key. */
export function sharedRunner(key: string, module: () => Module): Runner {
  return SHARED.of(key, () => {
    // The module holds the arrays that it was first asked for.
    const text = moduleText(module());
    return new Runner(() => text);
  });
}

/** All are compiled again for where computations run from now on. */
export function forgetShared(): void {
  SHARED.clear();
}

/** Sets where eager arrays are computed, and programs that have no options of their own. */
export function configure(options: RunnerOptions): void {
  requireCount('configure', arguments, 1);
  checkOptions<RunnerOptions>('configure', options, RUNNER_OPTIONS);
  setDefaults(options);
  forgetShared();
}
