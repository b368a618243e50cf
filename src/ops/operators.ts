import { requireKind } from '../core/check-options.ts';
import { UnsupportedError } from '../core/errors.ts';
import { checkOperator, operatorFault } from './check-operator.ts';
import type { Operator, OperatorTable } from './operator.ts';

/**
 * A table of operators that does not change, for compilers and devices:
 * `new Operators([...coreOperators, mine])`.
 */
export class Operators implements OperatorTable, Iterable<Operator> {
  readonly #byName = new Map<string, Operator>();
  /** True if any operator is a composition of others. */
  readonly hasCompositions: boolean;

  /** Throws UsageError, which names the operator, for one that is not complete and for two of one name. */
  constructor(operators: Iterable<Operator>) {
    const isList = Symbol.iterator in Object(operators);
    requireKind('Operators', ['a list of operators', () => isList], ['what is', operators]);
    for (const op of operators) {
      checkOperator(op);
      if (this.#byName.has(op.name)) {
        throw operatorFault(op.name, 'two definitions', 'each name once');
      }
      this.#byName.set(op.name, op);
    }
    this.hasCompositions = [...this].some(({ composition }) => composition !== undefined);
  }

  /** The operator of a name; undefined where there is none. */
  get(name: string): Operator | undefined {
    return this.#byName.get(name);
  }

  /** Returns true if there is an operator of this name. */
  has(name: string): boolean {
    return this.#byName.has(name);
  }

  /** All names, in the order of the table. */
  names(): readonly string[] {
    return [...this.#byName.keys()];
  }

  /** The operator of a name. Throws UnsupportedError where there is none. */
  require(name: string): Operator {
    const op = this.get(name);
    if (op !== undefined) return op;
    throw new UnsupportedError({ got: `operator ${name}`, expected: 'an operator that Weft has' });
  }

  /**
   * Returns true if the sizes of an operator's result depend on elements; false for an unknown
   * name.
   */
  isDynamic(name: string): boolean {
    return this.get(name)?.kind === 'dynamic';
  }

  /** All operators, in order. */
  [Symbol.iterator](): Iterator<Operator> {
    return this.#byName.values();
  }
}
