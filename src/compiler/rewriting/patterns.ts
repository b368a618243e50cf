import { any, anyOrder, calls, commutes, either, filled, once, single } from './expr-pattern.ts';

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
