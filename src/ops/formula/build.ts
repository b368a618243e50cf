import type {
  BinaryOperator,
  CompareOperator,
  ConvertNode,
  Expression,
  IntrinsicName,
  UnaryOperator,
} from './expression.ts';

/** An expression, or a number that stands for a constant. */
export type Term = Expression | number;

export const operand = (index: number): Expression => ({ kind: 'operand', index });

/** The operands of unary and binary operators. */
export const X: Expression = /* @__PURE__ */ operand(0);
export const A: Expression = X;
export const B: Expression = /* @__PURE__ */ operand(1);

export const attribute = (name: string): Expression => ({ kind: 'attribute', name });

const expression = (term: Term): Expression =>
  typeof term === 'number' ? { kind: 'constant', value: term } : term;

/** Computes `value` once for all places where `body` uses it. */
export function bound(
  name: string,
  value: Expression,
  body: (variable: Expression) => Expression,
): Expression {
  return { kind: 'let', name, value, body: body({ kind: 'variable', name }) };
}

const unary = (operator: UnaryOperator, x: Term): Expression => ({
  kind: 'unary',
  operator,
  x: expression(x),
});

export const neg = (x: Term) => unary('neg', x);
export const abs = (x: Term) => unary('abs', x);
export const not = (x: Term) => unary('not', x);
export const floor = (x: Term) => unary('floor', x);
export const ceil = (x: Term) => unary('ceil', x);
export const round = (x: Term) => unary('round', x);
export const sqrt = (x: Term) => unary('sqrt', x);

const binary = (operator: BinaryOperator, left: Term, right: Term): Expression => ({
  kind: 'binary',
  operator,
  left: expression(left),
  right: expression(right),
});

export const add = (a: Term, b: Term) => binary('add', a, b);
export const sub = (a: Term, b: Term) => binary('sub', a, b);
export const mul = (a: Term, b: Term) => binary('mul', a, b);
export const div = (a: Term, b: Term) => binary('div', a, b);
export const rem = (a: Term, b: Term) => binary('rem', a, b);
export const min = (a: Term, b: Term) => binary('min', a, b);
export const max = (a: Term, b: Term) => binary('max', a, b);
export const and = (a: Term, b: Term) => binary('and', a, b);
export const or = (a: Term, b: Term) => binary('or', a, b);
export const xor = (a: Term, b: Term) => binary('xor', a, b);
export const shl = (a: Term, b: Term) => binary('shl', a, b);
export const shr = (a: Term, b: Term) => binary('shr', a, b);

const compare = (operator: CompareOperator, left: Term, right: Term): Expression => ({
  kind: 'compare',
  operator,
  left: expression(left),
  right: expression(right),
});

export const equal = (a: Term, b: Term) => compare('==', a, b);
export const notEqual = (a: Term, b: Term) => compare('!=', a, b);
export const less = (a: Term, b: Term) => compare('<', a, b);
export const lessEqual = (a: Term, b: Term) => compare('<=', a, b);
export const greater = (a: Term, b: Term) => compare('<', b, a);
export const greaterEqual = (a: Term, b: Term) => compare('<=', b, a);

export const select = (condition: Expression, whenTrue: Term, whenFalse: Term): Expression => ({
  kind: 'select',
  condition,
  whenTrue: expression(whenTrue),
  whenFalse: expression(whenFalse),
});

export const convert = (x: Expression, to: ConvertNode<Expression>['to']): Expression => ({
  kind: 'convert',
  to,
  x,
});

export const isNaN = (x: Expression): Expression => ({ kind: 'test', test: 'nan', x });

export const isPositiveInfinity = (x: Expression): Expression => ({
  kind: 'test',
  test: '+infinity',
  x,
});

export const intrinsic = (name: IntrinsicName, ...operands: readonly Term[]): Expression => ({
  kind: 'intrinsic',
  name,
  operands: operands.map(expression),
});
