import type { TypeInference } from '../inference/type-inference.ts';
import { call } from '../ir/build.ts';
import type { CallExpr, Expr, FunctionExpr } from '../ir/expr.ts';
import { mapFunctions, postOrder, withChildren } from '../ir/walk/visit.ts';
import { isOperatorCall } from '../ir/operators/operator-name.ts';
import { tensorTypeOf } from '../rewriting/has-types.ts';
import type { Pass } from './pass.ts';

/**
 * Operators whose results may be far larger than their operands, as the square of a value, `mul(%x, %x)`, may be. A mean is not,
 * but variances are computed from it.
 */
const GROWING: ReadonlySet<string> = new Set([
  'exp',
  'pow',
  'reduce_mean',
  'reduce_prod',
  'reduce_sum',
]);

/** Operators that bring what has grown back to size, whatever else they read. */
const SHRINKING: ReadonlySet<string> = new Set(['log', 'softmax', 'layer_norm', 'rms_norm']);

/** Operators of norms, which bring any value back to size: what they read need not lie in the range of float16. */
const NORMS: ReadonlySet<string> = new Set(['layer_norm', 'reduce_mean', 'rms_norm']);

const SUMS: ReadonlySet<string> = new Set(['add', 'sub']);

/**
 * Computes in float32 what may leave the range of float16 between values that lie within it: squares, powers, exponentials
 * and sums, and what follows from them (a variance, its root) until it scales a value that had not grown, as the last step of
 * each norm and softmax does. So a norm that is spelled out is right where its squares are above 65,504, and so is each norm
 * of a sum, such as a residual, that is above it.
 */
export const widenFloat16: Pass = {
  name: 'widen-float16',
  run: (module, { types }) =>
    mapFunctions(module, (fn) => (hasFloat16(fn, types) ? new Widening(types).run(fn) : fn)),
};

function hasFloat16(fn: FunctionExpr, types: TypeInference): boolean {
  return postOrder(fn.body).some((expr) => expr.kind === 'call' && isFloat16(expr, types));
}

const isFloat16 = (expr: Expr, types: TypeInference): boolean =>
  tensorTypeOf(expr, types)?.dtype === 'float16';

class Widening {
  readonly #types: TypeInference;
  /** The replacement of each node, of its type. */
  readonly #results = new Map<Expr, Expr>();
  /** Values in float32 that have grown and were not brought back to size yet. */
  readonly #grown = new Map<Expr, Expr>();
  /** Sums that norms read, and sums of those. */
  readonly #sums = new Set<Expr>();

  constructor(types: TypeInference) {
    this.#types = types;
  }

  run(fn: FunctionExpr): FunctionExpr {
    const resultOf = (expr: Expr): Expr => this.#results.get(expr) ?? expr;
    const order = [...postOrder(fn.body)];
    this.#findSums(order);
    for (const expr of order) {
      const result =
        (expr.kind === 'call' && this.#widen(expr, resultOf)) || withChildren(expr, resultOf);
      if (result !== expr) this.#results.set(expr, result);
    }
    const body = resultOf(fn.body);
    return body === fn.body ? fn : { ...fn, body };
  }

  #findSums(order: readonly Expr[]): void {
    const read = new Set<Expr>();
    for (const expr of order.toReversed()) {
      if (!isOperatorCall(expr)) continue;
      const { args, callee } = expr;
      const [first] = args;
      const isNorm = NORMS.has(callee.name) || isSquare(callee.name, args);
      if (isNorm && first !== undefined) read.add(first);
      if (!read.has(expr)) continue;
      if (SUMS.has(callee.name)) this.#sums.add(expr);
      const variable = args.filter((arg) => arg.kind !== 'constant');
      const isPassed = SUMS.has(callee.name) || variable.length === 1;
      if (isPassed && this.#mayBeWide(callee.name, args)) for (const arg of variable) read.add(arg);
    }
  }

  /** The replacement of a call; undefined for one that stays. */
  #widen(expr: CallExpr, resultOf: (expr: Expr) => Expr): Expr | undefined {
    const { callee, args, attributes, span } = expr;
    if (callee.kind !== 'operator') return undefined;
    const readsGrown = args.some((arg) => this.#grown.has(arg));
    if (callee.name === 'cast') return readsGrown ? this.#castOfGrown(expr) : undefined;
    const isSum = this.#sums.has(expr);
    if (!readsGrown && !isSum && !grows(callee.name, args)) return undefined;
    if (!isFloat16(expr, this.#types) || !this.#mayBeWide(callee.name, args)) return undefined;
    // An operand that stands twice stays one.
    const operands = new Map(
      args.map((arg) => {
        const result = resultOf(arg);
        const isHalf = isFloat16(arg, this.#types);
        return [
          arg,
          this.#grown.get(arg) ?? (isHalf ? castTo('float32', result, span) : result),
        ] as const;
      }),
    );
    const wide = call(
      callee.name,
      args.map((arg) => operands.get(arg) ?? arg),
      attributes,
      span,
    );
    const { onDevice } = expr;
    const placed = onDevice === undefined ? wide : { ...wide, onDevice };
    if (isSum || !this.#isBackToSize(callee.name, args)) this.#grown.set(expr, placed);
    return castTo('float16', placed, span);
  }

  /** A conversion reads the value as it was computed. */
  #castOfGrown({ args: [arg], attributes, span }: CallExpr): Expr | undefined {
    const wide = arg && this.#grown.get(arg);
    if (wide === undefined) return undefined;
    return attributes['to'] === 'float32' ? wide : call('cast', [wide], attributes, span);
  }

  /**
   * Returns true for elementwise operators, reductions and moves of one operand, which take float32
   * as they take float16.
   */
  #mayBeWide(name: string, args: readonly Expr[]): boolean {
    const kind = this.#types.operators.get(name)?.kind;
    return (
      kind === 'elementwise' || kind === 'reduction' || (kind === 'injective' && args.length === 1)
    );
  }

  #isBackToSize(name: string, args: readonly Expr[]): boolean {
    if (SHRINKING.has(name)) return true;
    const grown = args.filter((arg) => this.#grown.has(arg));
    if (grown.length === 0) return false;
    if (name === 'div' && grown.length === args.length) return true;
    return args.some((arg) => !this.#grown.has(arg) && arg.kind !== 'constant');
  }
}

/** Returns true for a call whose result in float16 may leave its range, and is computed in float32. */
export function grows(name: string, args: readonly Expr[]): boolean {
  return GROWING.has(name) || isSquare(name, args);
}

function isSquare(name: string, [first, second]: readonly Expr[]): boolean {
  return name === 'mul' && first === second;
}

function castTo(to: 'float16' | 'float32', expr: Expr, span: CallExpr['span']): Expr {
  return call('cast', [expr], { to }, span);
}
