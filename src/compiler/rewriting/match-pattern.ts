import type { AttributeValue } from '../../core/contracts/primitive-function.ts';
import type { CallExpr, Expr } from '../ir/expr.ts';
import { isOperatorCall } from '../ir/operators/operator-name.ts';
import { type Binding, bound, Captures, constantNumber } from './captures.ts';
import type {
  AttributePattern,
  CallPattern,
  ConstantPattern,
  ExprPattern,
  NumberPattern,
} from './expr-pattern.ts';

/** Tells expressions whose value one expression reads. */
interface Readers {
  isOnce(expr: Expr): boolean;
}

interface Matching<T> {
  /** Undefined: the next way in which the pattern fits is tried. */
  readonly accept: (captures: Captures) => T | undefined;
  /** Needed by patterns that want a value for themselves. */
  readonly readers?: Readers;
}

/** The readers for patterns that do not ask for any. */
const NOBODY: Readers = { isOnce: () => false };

/**
 * The first result of `accept` for the ways in which a pattern fits a call, tried from left to right.
 * There are at most as many as the alternatives of the pattern allow, whatever the program.
 */
export function matchPattern<T>(
  pattern: ExprPattern,
  root: CallExpr,
  { accept, readers = NOBODY }: Matching<T>,
): T | undefined {
  return new Matcher<T>(readers).fits(pattern, root, {
    bindings: undefined,
    next: (bindings) => accept(new Captures(root, bindings)),
  });
}

type Next<T> = (bindings: Binding | undefined) => T | undefined;

/** The captures so far, and the continuation that is tried with more. */
interface State<T> {
  readonly bindings: Binding | undefined;
  readonly next: Next<T>;
}

interface Operands<T> {
  readonly patterns: readonly ExprPattern[];
  readonly args: readonly Expr[];
  readonly next: Next<T>;
}

class Matcher<T> {
  readonly #readers: Readers;

  constructor(readers: Readers) {
    this.#readers = readers;
  }

  fits(pattern: ExprPattern, expr: Expr, state: State<T>): T | undefined {
    switch (pattern.kind) {
      case 'any':
        return named(pattern.name, expr, state);
      case 'constant':
        if (expr.kind !== 'constant' || !isConstant(pattern, expr.value)) return undefined;
        return named(pattern.name, expr, state);
      case 'call':
        return this.#call(pattern, expr, state);
      case 'either':
        for (const each of pattern.patterns) {
          const found = this.fits(each, expr, state);
          if (found !== undefined) return found;
        }
        return undefined;
      default:
        return pattern satisfies never;
    }
  }

  #call(pattern: CallPattern, expr: Expr, { bindings, next }: State<T>): T | undefined {
    if (!isOperatorCall(expr)) return undefined;
    const { args } = expr;
    const { args: patterns, op } = pattern;
    if (expr.callee.name !== op || args.length < patterns.length) return undefined;
    if (args.length > patterns.length && pattern.isVariadic !== true) return undefined;
    return named(pattern.name, expr, {
      bindings,
      next: (inner) => {
        const withAttributes = attributesOf(pattern, expr, inner);
        if (withAttributes === NO_MATCH) return undefined;
        // Readers are counted where they are first asked for, and operands tell most calls apart.
        const last: Next<T> = (all) =>
          pattern.isOnce === true && !this.#readers.isOnce(expr) ? undefined : next(all);
        const found = this.#all({ patterns, args, next: last }, withAttributes);
        if (found !== undefined || pattern.isCommutative !== true) return found;
        return this.#all({ patterns: patterns.toReversed(), args, next: last }, withAttributes);
      },
    });
  }

  #all(operands: Operands<T>, bindings: Binding | undefined, index = 0): T | undefined {
    const [pattern, arg] = [operands.patterns[index], operands.args[index]];
    if (pattern === undefined || arg === undefined) return operands.next(bindings);
    const next: Next<T> = (inner) => this.#all(operands, inner, index + 1);
    return this.fits(pattern, arg, { bindings, next });
  }
}

/** Goes on with the name bound, unless it stands for another node already. */
function named<T>(
  name: string | undefined,
  expr: Expr,
  { bindings, next }: State<T>,
): T | undefined {
  if (name === undefined) return next(bindings);
  const before = bound(bindings, name);
  if (before !== undefined) return before === expr ? next(bindings) : undefined;
  return next({ name, value: expr, previous: bindings });
}

const NO_MATCH = Symbol('no match');

function attributesOf(
  { attributes: patterns = {} }: CallPattern,
  { attributes }: CallExpr,
  bindings: Binding | undefined,
): Binding | typeof NO_MATCH | undefined {
  let last = bindings;
  for (const [key, pattern] of Object.entries(patterns)) {
    const value = attributes[key];
    if (value === undefined) {
      if (pattern.isOptional === true) continue;
      return NO_MATCH;
    }
    if (!isAttribute(pattern, value)) return NO_MATCH;
    const { name } = pattern;
    if (name !== undefined) last = { name, value: { attribute: value }, previous: last };
  }
  return last;
}

function isAttribute({ oneOf, every }: AttributePattern, value: AttributeValue): boolean {
  if (every !== undefined) {
    return Array.isArray(value) && value.every((item) => Number(item) === every);
  }
  if (oneOf === undefined) return true;
  return oneOf.some((wanted) => JSON.stringify(wanted) === JSON.stringify(value));
}

function isConstant(
  { value, isSingle }: ConstantPattern,
  tensor: Extract<Expr, { kind: 'constant' }>['value'],
): boolean {
  if (isSingle === true && tensor.elementCount !== 1) return false;
  if (value === undefined) return true;
  const number = constantNumber(tensor);
  return number !== undefined && isNumber(value, number);
}

/** Numbers within this of another, relatively, are near. */
const NEAR = 1e-6;

function isNumber(pattern: NumberPattern, value: number): boolean {
  if ('equal' in pattern) return value === pattern.equal;
  if ('atMost' in pattern) return value <= pattern.atMost;
  return Math.abs(value - pattern.near) <= NEAR * Math.abs(pattern.near);
}
