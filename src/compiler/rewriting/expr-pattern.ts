import type { DType } from '../../core/tensor/dtype.ts';
import type { AttributeValue } from '../../core/contracts/primitive-function.ts';

/** Functions that make patterns of expressions, which are plain data. */
export const patterns = {
  /** Anything, under a name. */
  any,
  /** Three operands of an associative and commutative operator, in any order and grouping. */
  anyOrder,
  calls,
  /** A call with its two operands in either order. */
  commutes,
  /** One of several patterns. */
  either,
  /** A constant, or one whose elements are all one number. */
  filled,
  /** A call that nothing else reads. */
  once,
  /** A constant with a single element. */
  single,
} as const;

/**
 * A pattern of expressions, as plain data. Captures have names; a name that stands in a
 * pattern twice stands for one and the same node.
 */
export type ExprPattern = AnyPattern | CallPattern | ConstantPattern | EitherPattern;

/** Every expression, which is captured. */
interface AnyPattern {
  readonly kind: 'any';
  readonly name: string;
}

/** A call of an operator whose operands fit. */
export interface CallPattern {
  readonly kind: 'call';
  readonly op: string;
  readonly args: readonly ExprPattern[];
  /** Attributes that are not named may have any value. */
  readonly attributes?: Readonly<Record<string, AttributePattern>>;
  /** The two operands fit in either order. The order of the pattern is tried first. */
  readonly isCommutative?: true;
  /** Further operands may follow. */
  readonly isVariadic?: true;
  /** Nothing else may read the value: it is not computed where the call is replaced. */
  readonly isOnce?: true;
  readonly name?: string;
}

export interface ConstantPattern {
  readonly kind: 'constant';
  /** A predicate of its elements, which then have to be equal. */
  readonly value?: NumberPattern;
  /** Has one element and therefore makes no tensor larger but in rank. */
  readonly isSingle?: true;
  readonly name?: string;
}

/** An expression that one of the patterns fits; the first that does comes first. */
interface EitherPattern {
  readonly kind: 'either';
  /** The alternatives, in the order in which they are tried. */
  readonly patterns: readonly ExprPattern[];
}

export type NumberPattern =
  | { readonly equal: number }
  /** Exporters round numbers to float32 or to a few digits: within 1e-6 of it. */
  | { readonly near: number }
  | { readonly atMost: number };

export interface AttributePattern {
  readonly oneOf?: readonly AttributeValue[];
  /** The number that the attribute is a list of, with nothing else in it. */
  readonly every?: number;
  /** True if the attribute may be left out. */
  readonly isOptional?: true;
  /** The name of the capture, if the attribute is captured. */
  readonly name?: string;
}

/** A predicate of the type of a capture, which has to be a tensor. `root` names the whole match. */
export interface TypePattern {
  readonly dtypes?: readonly DType[];
  readonly rank?: number;
  /** A capture that has the same dtype. */
  readonly dtypeOf?: string;
  /** A capture that has the same rank. */
  readonly rankOf?: string;
  /** A capture that certainly has the same shape. */
  readonly shapeOf?: string;
}

export function any(name: string): AnyPattern {
  return { kind: 'any', name };
}

/** A call; `commutes` and `once` are the short forms of its flags. */
export function calls(
  op: string,
  args: readonly ExprPattern[],
  options: Partial<Omit<CallPattern, 'kind' | 'op' | 'args'>> = {},
): CallPattern {
  return { kind: 'call', op, args, ...options };
}

/** A call with its two operands in either order. */
export function commutes(
  op: string,
  args: readonly [ExprPattern, ExprPattern],
  options: Partial<Omit<CallPattern, 'kind' | 'op' | 'args'>> = {},
): CallPattern {
  return { ...calls(op, args, options), isCommutative: true };
}

/** The same call, of which nothing else may read the value. */
export function once(pattern: CallPattern): CallPattern {
  return { ...pattern, isOnce: true };
}

export function single(value?: NumberPattern, name?: string): ConstantPattern {
  return { ...filled(value, name), isSingle: true };
}

/** A constant whose elements are all one number, or any constant. */
export function filled(value?: NumberPattern, name?: string): ConstantPattern {
  return {
    kind: 'constant',
    ...(value === undefined ? {} : { value }),
    ...(name === undefined ? {} : { name }),
  };
}

export function either(...patterns: readonly ExprPattern[]): EitherPattern {
  return { kind: 'either', patterns };
}

/** Three operands of an associative and commutative operator, in any order and grouping. */
export function anyOrder(
  op: string,
  [a, b, c]: readonly [ExprPattern, ExprPattern, ExprPattern],
): EitherPattern {
  const grouped = ([left, right, last]: readonly [ExprPattern, ExprPattern, ExprPattern]) =>
    commutes(op, [commutes(op, [left, right]), last]);
  return either(grouped([a, b, c]), grouped([a, c, b]), grouped([b, c, a]));
}

/** The operators that a pattern may be a call of; undefined where it may be another expression. */
export function rootOperators(pattern: ExprPattern): readonly string[] | undefined {
  if (pattern.kind === 'call') return [pattern.op];
  if (pattern.kind !== 'either') return undefined;
  const operators = new Set<string>();
  for (const each of pattern.patterns) {
    const found = rootOperators(each);
    if (found === undefined) return undefined;
    for (const op of found) operators.add(op);
  }
  return [...operators];
}
