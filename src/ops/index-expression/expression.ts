/**
 * An integer or a condition of an index map, in plain immutable data, which each device translates
 * to code and the host evaluates. Each node knows its type and is defined for all values of it:
 *
 * - `u32` and `i32` wrap at 32 bits;
 * - `/` rounds towards zero, `%` has the sign of the first; x / 0 is x and x % 0 is 0;
 * - comparisons are those of the type;
 * - `u32`, `i32` and `bitcast<u32>` give the same 32 bits another type.
 *
 * A node that stands in several places is computed once where that is possible, so maps share them.
 */
export type IndexExpression<T extends IndexType = IndexType> = IndexNode & { readonly type: T };

export type IndexType = IntegerType | 'bool';

export type IntegerType = 'u32' | 'i32';

export type IndexNode = CoordinateNode | ConstantNode | ParameterNode | ElementNode | OperationNode;

/** A coordinate of the output element. */
interface CoordinateNode {
  readonly kind: 'coordinate';
  readonly axis: number;
  readonly type: 'u32';
}

/** A number that is part of the code: the same for all shapes and values of attributes. */
interface ConstantNode {
  readonly kind: 'constant';
  readonly value: number;
  readonly type: IntegerType;
}

/** A number that depends on shapes or attributes, and so travels beside the code. */
export interface ParameterNode {
  readonly kind: 'parameter';
  readonly value: number;
  readonly type: IntegerType;
}

/** An element of an integer input. Those of int64 saturate. */
export interface ElementNode {
  readonly kind: 'element';
  readonly input: number;
  /** The coordinates of the element. */
  readonly operands: readonly IndexExpression<'u32'>[];
  readonly type: 'i32';
}

/** An operator between its operands, or a function, which WGSL has under this name, of them in that order. */
export interface OperationNode {
  readonly kind: 'operation';
  readonly operator: IndexOperator | IndexFunction;
  readonly operands: readonly IndexExpression[];
  readonly type: IndexType;
}

/** All take two operands but `&`, which takes any number of conditions. */
export type IndexOperator =
  | '+'
  | '-'
  | '*'
  | '/'
  | '%'
  | '<'
  | '<='
  | '>='
  | '=='
  // Not &&, whose branches compilers of software adapters take minutes for at rank 8.
  | '&';

/** `select`: the second where the third holds, else the first. */
export type IndexFunction = 'min' | 'abs' | 'clamp' | 'select' | 'u32' | 'i32' | 'bitcast<u32>';
