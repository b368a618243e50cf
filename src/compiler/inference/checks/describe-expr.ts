import type { Expr } from '../../ir/expr.ts';
import { bindersOf } from '../../ir/walk/visit.ts';

/** An expression in a few words, for the place in a message. */
export function describeExpr(expr: Expr): string {
  switch (expr.kind) {
    case 'call':
      return `call of ${describeExpr(expr.callee)}`;
    case 'global':
      return `@${expr.name}`;
    case 'constructor':
    case 'operator':
      return expr.name;
    case 'var':
      return `%${expr.name}`;
    case 'let':
      return `let %${expr.variable.name}`;
    case 'function':
      return `fn (${bindersOf(expr)
        .map((param) => `%${param.name}`)
        .join(', ')})`;
    case 'int':
    case 'constant':
    case 'tuple':
    case 'projection':
    case 'if':
    case 'match':
      return expr.kind;
    default:
      return expr satisfies never;
  }
}
