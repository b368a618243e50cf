import { type RunnerOptions, setDefaults } from './runner.ts';
import { forgetShared } from './shared-runners.ts';

/** Sets where eager arrays are computed, and programs that have no options of their own. */
export function configure(options: RunnerOptions): void {
  setDefaults(options);
  forgetShared();
}
