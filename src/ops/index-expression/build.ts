import type {
  IndexExpression,
  IndexFunction,
  IndexOperator,
  IndexType,
  IntegerType,
} from './expression.ts';

type U32 = IndexExpression<'u32'>;
type I32 = IndexExpression<'i32'>;
type Condition = IndexExpression<'bool'>;
type Binary = <T extends IntegerType>(
  a: IndexExpression<T>,
  b: IndexExpression<NoInfer<T>>,
) => IndexExpression<T>;
type Compare = <T extends IntegerType>(
  a: IndexExpression<T>,
  b: IndexExpression<NoInfer<T>>,
) => Condition;

/** An operation whose type is known. */
export const typed =
  <T extends IndexType>(operator: IndexOperator | IndexFunction, type: T) =>
  (...operands: readonly IndexExpression[]): IndexExpression<T> => ({
    kind: 'operation',
    operator,
    type,
    operands,
  });

const binary =
  (operator: IndexOperator | IndexFunction): Binary =>
  (a, b) =>
    typed(operator, a.type)(a, b);

const compare = (operator: IndexOperator): Compare => typed(operator, 'bool');

/** A number that no shape and no attribute changes. */
export const constant = <T extends IntegerType>(value: number, type: T): IndexExpression<T> => ({
  kind: 'constant',
  value,
  type,
});
/** The coordinate of an axis that there may not be. */
export const ZERO: U32 = /* @__PURE__ */ constant(0, 'u32');

export const add = /* @__PURE__ */ binary('+');
export const sub = /* @__PURE__ */ binary('-');
export const mul = /* @__PURE__ */ binary('*');
/** The quotient, rounded towards zero. */
export const div = /* @__PURE__ */ binary('/');
/** The remainder, with the sign of the first. */
export const rem = /* @__PURE__ */ binary('%');
export const min = /* @__PURE__ */ binary('min');
/** The condition a < b. */
export const less = /* @__PURE__ */ compare('<');
/** The condition a ≤ b. */
export const lessEqual = /* @__PURE__ */ compare('<=');
/** The condition a ≥ b. */
export const greaterEqual = /* @__PURE__ */ compare('>=');
/** The condition a = b. */
export const equal = /* @__PURE__ */ compare('==');
/** The condition that all of these hold; undefined where there are none. */
export const all = (conditions: readonly Condition[]): Condition | undefined =>
  conditions.length > 0 ? typed('&', 'bool')(...conditions) : undefined;
/** The absolute value. */
export const abs: (x: I32) => I32 = /* @__PURE__ */ typed('abs', 'i32');
/** The nearest number from `low` to `high`. */
export const clamp: (x: I32, low: I32, high: I32) => I32 = /* @__PURE__ */ typed('clamp', 'i32');
/** One of two, by a condition. */
export const select = <T extends IntegerType>(
  condition: Condition,
  whenTrue: IndexExpression<T>,
  whenFalse: IndexExpression<NoInfer<T>>,
): IndexExpression<T> => typed('select', whenTrue.type)(whenFalse, whenTrue, condition);
/** A number below 2^31 as one that may be negative. */
export const toSigned: (x: U32) => I32 = /* @__PURE__ */ typed('i32', 'i32');
/** A number that is not negative as an unsigned one. */
export const toUnsigned: (x: I32) => U32 = /* @__PURE__ */ typed('u32', 'u32');
/** The bits of a number that may be negative, which then is larger than any size. */
export const wrapped: (x: I32) => U32 = /* @__PURE__ */ typed('bitcast<u32>', 'u32');
