import type { TensorType } from '../../../core/contracts/primitive-function.ts';
import type { OpDefinition } from '../../../ops/define-op.ts';
import type { Expr } from '../../ir/expr.ts';
import { isOperatorCall, operatorName } from '../../ir/operators/operator-name.ts';
import { SCALAR_OPERATORS } from '../../ir/operators/scalar-operators.ts';
import type { Scopes } from '../../ir/walk/scopes.ts';
import { formatType, type Type } from '../../ir/type.ts';
import { childrenOf } from '../../ir/walk/visit.ts';
import { VIEW_OPERATOR } from '../../ir/host-values.ts';
import type { TypeInference } from '../../inference/type-inference.ts';

/** Who reads what in a function, in which order. */
export class Dataflow {
  readonly scopes: Scopes;
  readonly types: TypeInference;
  readonly #positions = new Map<Expr, number>();
  readonly #readers = new Map<Expr, Expr[]>();

  constructor(scopes: Scopes, types: TypeInference) {
    this.scopes = scopes;
    this.types = types;
    for (const [position, expr] of scopes.order.entries()) {
      this.#positions.set(expr, position);
      for (const child of new Set(childrenOf(expr))) {
        const readers = this.#readers.get(child);
        if (readers === undefined) this.#readers.set(child, [expr]);
        else readers.push(expr);
      }
    }
  }

  /** The position of an expression in the order of evaluation. */
  position(expr: Expr): number {
    return this.#positions.get(expr) ?? -1;
  }

  /** The different expressions that read one; none read the result of the function. */
  readers(expr: Expr): readonly Expr[] {
    return this.#readers.get(expr) ?? [];
  }

  /** The operator of a call that needs a kernel. */
  operatorOf(expr: Expr): OpDefinition | undefined {
    return kernelOperator(expr, this.types);
  }

  /** Returns true for a call with a kernel of its own, into which others may be fused. */
  isAnchor(expr: Expr): boolean {
    const kind = this.operatorOf(expr)?.kind;
    return kind === 'anchor' || kind === 'reduction';
  }

  typeOf(expr: Expr): Type {
    return this.types.of(expr);
  }

  tensorType(expr: Expr): TensorType {
    return kernelOperand(expr, this.types);
  }
}

/** The operator of a call that needs a kernel. */
export function kernelOperator(expr: Expr, { operators }: TypeInference): OpDefinition | undefined {
  if (!isOperatorCall(expr)) return undefined;
  const { name } = expr.callee;
  if (name === VIEW_OPERATOR || SCALAR_OPERATORS.has(name)) return undefined;
  return operators.require(name);
}

/** The type of an operand or result of such a call. */
export function kernelOperand(expr: Expr, types: TypeInference): TensorType {
  const type = types.of(expr);
  if (type.kind === 'tensor') return type;
  throw new Error(`internal: an operator reads ${formatType(type)}`);
}

/** Returns true for a view: the elements of its operand in the same order, in another shape. */
export function isView(expr: Expr): boolean {
  return operatorName(expr) === VIEW_OPERATOR;
}
