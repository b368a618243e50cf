import type { Expression } from './expression.ts';

/** The expressions that one is made of, in no order. */
export function childrenOf(expression: Expression): readonly Expression[] {
  const children: Expression[] = [];
  mapChildren(expression, (child) => {
    children.push(child);
    return child;
  });
  return children;
}

/** The same of other expressions, whose types must be the same. */
export function mapChildren(
  expression: Expression,
  change: (child: Expression) => Expression,
): Expression {
  switch (expression.kind) {
    case 'local':
    case 'constant':
      return expression;
    case 'operation':
    case 'lane':
      return { ...expression, operands: expression.operands.map(change) };
    case 'load':
      return { ...expression, address: change(expression.address) };
    case 'select': {
      const { condition, whenTrue, whenFalse } = expression;
      return {
        ...expression,
        condition: change(condition),
        whenTrue: change(whenTrue),
        whenFalse: change(whenFalse),
      };
    }
    case 'shuffle':
      return { ...expression, left: change(expression.left), right: change(expression.right) };
    case 'madd': {
      const { a, b, c } = expression;
      return { ...expression, a: change(a), b: change(b), c: change(c) };
    }
    default:
      return expression satisfies never;
  }
}
