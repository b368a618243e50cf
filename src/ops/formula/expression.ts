import type { DType } from '../../core/tensor/dtype.ts';
import type { Attributes } from '../../core/contracts/primitive-function.ts';
import type { ScalarType } from './scalar-type.ts';

/**
 * The formula of an elementwise operator: plain immutable data, of which WGSL is rendered and which
 * the host evaluates. Types follow from the operands (`inferTypes`): one formula serves all dtypes.
 *
 * Each node is defined for all values of its type. Floats follow IEEE 754 as far as WGSL does: an
 * implementation may flush denormals, and a zero that `min`, `max` or `round` gives has either sign.
 * Integers wrap. The host computes floats in double precision; a `convert` rounds.
 */
export type Expression =
  | Leaf
  | AttributeNode
  | LetNode<Expression>
  | UnaryNode<Expression>
  | BinaryNode<Expression>
  | CompareNode<Expression>
  | SelectNode<Expression>
  | ConvertNode<Expression>
  | TestNode<Expression>
  | IntrinsicNode<Expression>;

/** Nodes without children whose meaning needs no attributes. */
export type Leaf = OperandNode | ConstantNode | VariableNode;

/** The part of a call that a formula may depend on besides operands. */
export interface FormulaCall {
  readonly attributes: Attributes;
  /** dtype of each operand; float32 in place of float16. */
  readonly dtypes: readonly DType[];
  readonly output: DType;
}

/** An expression, or one for each choice of attributes and dtypes. */
export type Formula = Expression | ((call: FormulaCall) => Expression);

interface OperandNode {
  readonly kind: 'operand';
  readonly index: number;
}

/** A number of the type that its place wants. */
interface ConstantNode {
  readonly kind: 'constant';
  readonly value: number;
}

/** The value of a float attribute, as a constant. */
interface AttributeNode {
  readonly kind: 'attribute';
  readonly name: string;
}

interface VariableNode {
  readonly kind: 'variable';
  readonly name: string;
}

/** `body`, in which the variable is `value`, computed once. Names differ within a formula. */
export interface LetNode<E> {
  readonly kind: 'let';
  readonly name: string;
  readonly value: E;
  readonly body: E;
}

export interface UnaryNode<E> {
  readonly kind: 'unary';
  readonly operator: UnaryOperator;
  readonly x: E;
}

/** `not` inverts all bits, of a bool its one. `round` takes halves to the even integer. */
export type UnaryOperator = 'neg' | 'abs' | 'not' | 'floor' | 'ceil' | 'trunc' | 'round' | 'sqrt';

export interface BinaryNode<E> {
  readonly kind: 'binary';
  readonly operator: BinaryOperator;
  readonly left: E;
  readonly right: E;
}

/**
 * - `div` of integers rounds towards zero; a / 0 is a, and the least integer / -1 is itself.
 * - `rem` has the sign of a and is exact; by 0 it is 0 of integers, NaN of floats.
 * - `min` and `max` are NaN where either operand is.
 * - `and`, `or` and `xor` take integers and bools.
 * - `shl` and `shr` take unsigned integers; from the number of bits on the result is 0.
 */
export type BinaryOperator =
  | 'add'
  | 'sub'
  | 'mul'
  | 'div'
  | 'rem'
  | 'min'
  | 'max'
  | 'and'
  | 'or'
  | 'xor'
  | 'shl'
  | 'shr';

export interface CompareNode<E> {
  readonly kind: 'compare';
  readonly operator: CompareOperator;
  readonly left: E;
  readonly right: E;
}

export type CompareOperator = '==' | '!=' | '<' | '<=';

export interface SelectNode<E> {
  readonly kind: 'select';
  readonly condition: E;
  readonly whenTrue: E;
  readonly whenFalse: E;
}

/**
 * A value as another type: floats to integers round towards zero and saturate at the last float
 * inside the range, NaN gives 0; integers keep their low bits; to bool: whether x is not 0; to f32:
 * rounded to nearest, ties to even, in one step.
 */
export interface ConvertNode<E> {
  readonly kind: 'convert';
  /** `output`: the type of the result. */
  readonly to: ScalarType | 'output';
  readonly x: E;
}

/** Class of a float, by its bits: shader compilers may assume that no value is NaN or infinite. */
export interface TestNode<E> {
  readonly kind: 'test';
  readonly test: 'nan' | '+infinity';
  readonly x: E;
}

/** A function that devices compute in ways of their own, as the table of intrinsics says. */
export interface IntrinsicNode<E> {
  readonly kind: 'intrinsic';
  readonly name: IntrinsicName;
  readonly operands: readonly E[];
}

export type IntrinsicName =
  | 'exp'
  | 'log'
  | 'log1p'
  | 'sigmoid'
  | 'erf'
  | 'sin'
  | 'cos'
  | 'tan'
  | 'asin'
  | 'acos'
  | 'atan'
  | 'sinh'
  | 'cosh'
  | 'tanh'
  | 'asinh'
  | 'acosh'
  | 'atanh'
  | 'pow'
  | 'quotient';
