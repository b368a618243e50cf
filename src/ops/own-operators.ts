import { Operators as CoreOperators } from './operators.ts';

/**
 * A table of operators that does not change, for compilers and devices:
 * `new Operators([...coreOperators, mine])`.
 */
export class Operators extends CoreOperators {
  /**
   * @internal The machine with the classes of this table, for a session in the thread of its page: that of the worker's
   * files has classes of its own.
   */
  importMachine() {
    return import('../worker/index.ts');
  }
}
