import type { Expr } from '../expr.ts';

/**
 * Returns true for an expression that is a value without being computed. It may stand as an operand
 * in A-normal form, and it does not matter where and how often it is referred to. A primitive
 * function is called where it stands and never held.
 */
export function isAtom(expr: Expr): boolean {
  switch (expr.kind) {
    case 'var':
    case 'constant':
    case 'int':
    case 'operator':
    case 'constructor':
    case 'global':
      return true;
    case 'function':
      return expr.attributes.primitive !== undefined;
    case 'call':
    case 'tuple':
    case 'projection':
    case 'let':
    case 'if':
    case 'match':
      return false;
    default:
      return expr satisfies never;
  }
}
