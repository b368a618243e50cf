import { internalError } from '../../core/errors.ts';
import type { CallExpr } from '../ir/expr.ts';
import { type ExprPattern, rootOperators } from './expr-pattern.ts';

/** Rows with patterns, by the operators that these are calls of: most calls then fit no pattern. */
export class PatternTable<Row extends { readonly pattern: ExprPattern }> {
  readonly #rows = new Map<string, Row[]>();

  /** Throws for a pattern that may begin with anything: it would be tried everywhere. */
  constructor(rows: readonly Row[]) {
    for (const row of rows) {
      const operators = rootOperators(row.pattern);
      if (operators === undefined) throw internalError('a pattern is no call of an operator');
      for (const op of operators) {
        const others = this.#rows.get(op);
        if (others === undefined) this.#rows.set(op, [row]);
        else others.push(row);
      }
    }
  }

  /** The rows that may fit a call, in their order. */
  rowsFor({ callee }: CallExpr): readonly Row[] {
    return callee.kind === 'operator' ? (this.#rows.get(callee.name) ?? []) : [];
  }
}
