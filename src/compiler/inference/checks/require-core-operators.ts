import { UsageError } from '../../../core/errors.ts';
import { coreOperators } from '../../../ops/tables/core-operators.ts';
import type { Operators } from '../../../ops/operators.ts';
import { SCALAR_OPERATORS } from '../../ir/operators/scalar-operators.ts';

/**
 * Throws UsageError, which names the operator, for a table that lacks a core operator or has another one
 * in its place, since passes know what these mean, and for a name that the language has.
 */
export function requireCoreOperators(operators: Operators): void {
  for (const op of coreOperators) {
    const given = operators.get(op.name);
    if (given === op) continue;
    throw new UsageError({
      where: `operator ${op.name}`,
      got: `a table ${given === undefined ? 'without it' : 'with another one of that name'}`,
      expected: 'all core operators, unchanged',
      remedy: 'Pass new Operators([...coreOperators, mine]), and give yours other names.',
    });
  }
  for (const { name } of operators) {
    if (!SCALAR_OPERATORS.has(name)) continue;
    const expected = 'a name that the language of programs does not have';
    throw new UsageError({ where: `operator ${name}`, got: 'that name', expected });
  }
}
