import { checkOptions, requireCount } from '../core/check-options.ts';
import { RUNNER_OPTIONS, type RunnerOptions, setDefaults } from './runners/runner.ts';
import { forgetShared } from './runners/shared-runners.ts';

/** Sets where eager arrays are computed, and programs that have no options of their own. */
export function configure(options: RunnerOptions): void {
  requireCount('configure', arguments, 1);
  checkOptions<RunnerOptions>('configure', options, RUNNER_OPTIONS);
  setDefaults(options);
  forgetShared();
}
