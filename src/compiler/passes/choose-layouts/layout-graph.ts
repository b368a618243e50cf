import { proveEqual } from '../../../core/dims/dim-algebra.ts';
import type { TensorType } from '../../../core/contracts/primitive-function.ts';
import type { TypeInference } from '../../inference/type-inference.ts';
import type { CallExpr, Expr, FunctionExpr } from '../../ir/expr.ts';
import { isOperatorCall, operatorName } from '../../ir/operators/operator-name.ts';
import { computeScopes } from '../../ir/walk/scopes.ts';
import { childrenOf } from '../../ir/walk/visit.ts';
import { tensorTypeOf } from '../../rewriting/has-types.ts';
import { axisRuleOf, droppedAxes, dropsAxes } from './axis-rules.ts';
import { AxisClasses, identity, type Permutation, permuted } from './permutation.ts';

/** A tensor that a program has in one layout and may keep in another. */
export interface LayoutValue {
  readonly expr: Expr;
  readonly type: TensorType;
  /** True if its operator computes it in any layout from operands in that one. */
  isMovable: boolean;
  /** Where it is read. */
  readonly reads: LayoutRead[];
  /** Operands that cost a kernel where the value is in another layout. */
  readonly others: TensorType[];
}

/** A value as transposes lead to it. */
export interface View {
  readonly base: LayoutValue;
  /** Axis i is axis `perm[i]` of the base. */
  readonly perm: Permutation;
}

export interface LayoutRead {
  readonly perm: Permutation;
  /** Who reads: a movable value, or a call that takes several layouts. Undefined for the layout of the program alone. */
  readonly reader: LayoutValue | LayoutTaker | undefined;
}

/** A call whose result has no layout, and is the same for an operand in another one. */
export interface LayoutTaker {
  readonly expr: CallExpr;
  /** Returns true if the axes of its operand may be permuted so. */
  readonly takes: (perm: Permutation) => boolean;
}

/** What a function computes, as tensors between which transposes lead. */
export class LayoutGraph {
  readonly views = new Map<Expr, View>();
  readonly takers = new Map<Expr, LayoutTaker>();
  readonly classes = new AxisClasses<LayoutValue>();
  readonly #types: TypeInference;
  readonly #values = new Map<Expr, LayoutValue>();
  /** Expressions of constants alone, whose transposes are computed by the compiler. */
  readonly #constants = new Set<Expr>();
  readonly #parents = new Map<Expr, Expr[]>();
  /** Returns true for an operand in the scope of its reader. */
  readonly #isNear: (reader: Expr, operand: Expr) => boolean;

  constructor(fn: FunctionExpr, types: TypeInference) {
    this.#types = types;
    const scopes = computeScopes(fn);
    const { order } = scopes;
    for (const expr of order) {
      for (const child of childrenOf(expr)) {
        const parents = this.#parents.get(child);
        if (parents === undefined) this.#parents.set(child, [expr]);
        else parents.push(expr);
      }
    }
    this.#isNear = (expr, operand) => scopes.of(expr) === scopes.of(operand);
    for (const expr of order) if (this.#isOfConstants(expr)) this.#constants.add(expr);
    for (const expr of order) if (!this.#constants.has(expr)) this.#add(expr);
    this.#read(fn.body, undefined);
  }

  get values(): Iterable<LayoutValue> {
    return this.#values.values();
  }

  isConstant(expr: Expr): boolean {
    return this.#constants.has(expr);
  }

  viewOf(expr: Expr): View | undefined {
    const known = this.views.get(expr);
    if (known !== undefined || this.#constants.has(expr)) return known;
    const type = isTensor(expr) ? tensorTypeOf(expr, this.#types) : undefined;
    if (type === undefined || type.shape.length < 2) return undefined;
    const base: LayoutValue = { expr, type, isMovable: false, reads: [], others: [] };
    this.#values.set(expr, base);
    const view = { base, perm: identity(type.shape.length) };
    this.views.set(expr, view);
    return view;
  }

  #add(expr: Expr): void {
    if (isTranspose(expr)) {
      const [operand] = expr.args;
      const source = operand && this.#isNear(expr, operand) ? this.viewOf(operand) : undefined;
      if (source !== undefined) {
        this.views.set(expr, { base: source.base, perm: permuted(source.perm, permOf(expr)) });
        return;
      }
    }
    const taker = this.#takerOf(expr);
    if (taker !== undefined) {
      this.takers.set(expr, taker);
      for (const [i, child] of childrenOf(expr).entries()) {
        this.#read(child, i === 0 && this.#isNear(expr, child) ? taker : undefined);
      }
      return;
    }
    const value = this.#movable(expr);
    if (value === undefined) {
      for (const child of childrenOf(expr)) this.#read(child, undefined);
      return;
    }
    for (const arg of operandsOf(expr, this.#types)) this.#connect(value, arg);
  }

  #movable(expr: Expr): LayoutValue | undefined {
    const value = axisRuleOf(expr, this.#types) && this.viewOf(expr)?.base;
    if (value !== undefined) value.isMovable = true;
    return value;
  }

  /** An operand that has to be in the layout of a movable value. */
  #connect(value: LayoutValue, { operand, isAlike }: Operand): void {
    const view = isAlike ? this.viewOf(operand) : undefined;
    const isNear = this.#isNear(value.expr, operand);
    if (view === undefined || view.perm.length < value.type.shape.length || !isNear) {
      if (view !== undefined)
        value.others.push({ ...view.base.type, shape: permuted(view.base.type.shape, view.perm) });
      this.#read(operand, undefined);
      return;
    }
    if (!this.classes.unite(view.base, value, view.perm)) value.isMovable = false;
    this.#read(operand, value);
  }

  #read(operand: Expr, reader: LayoutRead['reader']): void {
    const view = this.viewOf(operand);
    view?.base.reads.push({ perm: view.perm, reader });
  }

  #isOfConstants(expr: Expr): boolean {
    if (expr.kind === 'constant') return true;
    if (!isOperatorCall(expr) || expr.onDevice !== undefined) return false;
    const op = this.#types.operators.get(expr.callee.name);
    if (op === undefined || op.kind === 'dynamic') return false;
    return expr.args.every((arg) => this.#constants.has(arg));
  }

  #takerOf(expr: Expr): LayoutTaker | undefined {
    if (!isOperatorCall(expr)) return undefined;
    if (dropsAxes(expr)) {
      return { expr, takes: (perm) => droppedAxes(expr, perm, this.#types) !== undefined };
    }
    return this.#isFlattening(expr) ? { expr, takes: (perm) => perm[0] === 0 } : undefined;
  }

  /** Returns true for a reshape to rows that only products with constant matrices read. */
  #isFlattening(expr: CallExpr): boolean {
    const [operand] = expr.args;
    if (operatorName(expr) !== 'reshape' || operand === undefined) return false;
    const from = tensorTypeOf(operand, this.#types)?.shape ?? [];
    const to = tensorTypeOf(expr, this.#types)?.shape ?? [];
    const [rows = '?', ...rest] = from;
    if (to.length !== 2 || rest.length < 2 || !proveEqual(to[0] ?? '?', rows)) return false;
    const areKnown = rest.every((dim) => typeof dim === 'number');
    const readers = this.#parents.get(expr) ?? [];
    return (
      areKnown && readers.length > 0 && readers.every((reader) => this.#isProduct(reader, expr))
    );
  }

  #isProduct(reader: Expr, rows: Expr): boolean {
    if (!isOperatorCall(reader) || reader.args[0] !== rows || reader.onDevice !== undefined) {
      return false;
    }
    const [, weights, ...more] = reader.args;
    const { name } = reader.callee;
    const isKind = name === 'matmul' || (name === 'gemm' && reader.attributes['trans_a'] !== true);
    if (!isKind || weights === undefined || more.includes(rows)) return false;
    const rank = tensorTypeOf(weights, this.#types)?.shape.length;
    return rank === 2 && this.#constants.has(weights);
  }
}

interface Operand {
  readonly operand: Expr;
  /** False for an operand that has axes of its own. */
  readonly isAlike: boolean;
}

function operandsOf(expr: Expr, types: TypeInference): Operand[] {
  const rule = axisRuleOf(expr, types);
  const args = expr.kind === 'call' ? expr.args : [];
  return args.map((operand, i) => ({ operand, isAlike: rule?.operands !== 'first' || i === 0 }));
}

export function isTranspose(expr: Expr): expr is CallExpr {
  return operatorName(expr) === 'transpose' && expr.kind === 'call' && expr.onDevice === undefined;
}

export function permOf({ attributes }: CallExpr): Permutation {
  const { perm } = attributes;
  return Array.isArray(perm) ? perm.map(Number) : [];
}

/** Functions and what calls make of them have types that take long to infer. */
function isTensor({ kind }: Expr): boolean {
  return kind !== 'function' && kind !== 'global' && kind !== 'constructor' && kind !== 'int';
}
