import type {
  BinaryOperator,
  CompareOperator,
  ConvertNode,
  Expression,
  IntrinsicName,
  UnaryOperator,
} from './expression.ts';

/** An expression, or a number that stands for a constant. */
type Term = Expression | number;

export const operand = (index: number): Expression => ({ kind: 'operand', index });

/** The operand of a unary operator. */
export const X: Expression = /* @__PURE__ */ operand(0);
/** The first operand of a binary operator. */
export const A: Expression = X;
/** The second operand of a binary operator. */
export const B: Expression = /* @__PURE__ */ operand(1);

/** An attribute of the call, as a number. */
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
/** The absolute value. */
export const abs = (x: Term) => unary('abs', x);
/** Not: of booleans, and of the bits of integers. */
export const not = (x: Term) => unary('not', x);
/** Rounds down. */
export const floor = (x: Term) => unary('floor', x);
/** Rounds up. */
export const ceil = (x: Term) => unary('ceil', x);
/** Rounds to the nearest integer, halves to the even one. */
export const round = (x: Term) => unary('round', x);
/** The square root. */
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
/** The quotient; integers round towards zero. */
export const div = (a: Term, b: Term) => binary('div', a, b);
/** The remainder, with the sign of the first. */
export const rem = (a: Term, b: Term) => binary('rem', a, b);
export const min = (a: Term, b: Term) => binary('min', a, b);
export const max = (a: Term, b: Term) => binary('max', a, b);
/** And: of booleans, and of the bits of integers. */
export const and = (a: Term, b: Term) => binary('and', a, b);
/** Or: of booleans, and of the bits of integers. */
export const or = (a: Term, b: Term) => binary('or', a, b);
/** Exclusive or: of booleans, and of the bits of integers. */
export const xor = (a: Term, b: Term) => binary('xor', a, b);
/** Shifts bits to the left. */
export const shl = (a: Term, b: Term) => binary('shl', a, b);
/** Shifts bits to the right. */
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

/** One of two values, by a condition. */
export const select = (condition: Expression, whenTrue: Term, whenFalse: Term): Expression => ({
  kind: 'select',
  condition,
  whenTrue: expression(whenTrue),
  whenFalse: expression(whenFalse),
});

/** The value in another type. */
export const convert = (x: Expression, to: ConvertNode<Expression>['to']): Expression => ({
  kind: 'convert',
  to,
  x,
});

/** The condition that a float is NaN. */
export const isNaN = (x: Expression): Expression => ({ kind: 'test', test: 'nan', x });

/** The condition that a float is positive infinity. */
export const isPositiveInfinity = (x: Expression): Expression => ({
  kind: 'test',
  test: '+infinity',
  x,
});

/** A function that languages and drivers differ in, such as `exp`. */
export const intrinsic = (name: IntrinsicName, ...operands: readonly Term[]): Expression => ({
  kind: 'intrinsic',
  name,
  operands: operands.map(expression),
});
