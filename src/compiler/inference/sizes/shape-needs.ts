import type { TensorType } from '../../../core/contracts/primitive-function.ts';
import type { DimCheck } from '../../../core/dims/symbolic-dims.ts';
import type { BlockTable } from '../../ir/walk/block.ts';
import {
  type CallExpr,
  type Expr,
  formatSpan,
  type FunctionExpr,
  spanOf,
  type VarExpr,
} from '../../ir/expr.ts';
import { operatorName } from '../../ir/operators/operator-name.ts';
import { formatType, type Type } from '../../ir/type.ts';
import { bindersOf, postOrder } from '../../ir/walk/visit.ts';
import { VIEW_OPERATOR } from '../../ir/host-values.ts';
import { DIM } from '../../ir/operators/scalar-operators.ts';
import type { TypeInference } from '../type-inference.ts';

/** The dimensions that a function in A-normal form has to know. */
export class ShapeNeeds {
  readonly #types: TypeInference;
  readonly #blocks: BlockTable;

  constructor(types: TypeInference, blocks: BlockTable) {
    this.#types = types;
    this.#blocks = blocks;
  }

  tensorType(expr: Expr): TensorType {
    const type = this.#types.of(expr);
    if (type.kind === 'tensor') return type;
    const place = formatSpan(spanOf(expr), expr.kind);
    throw new Error(`internal: ${place} is ${formatType(type)}, where a tensor is needed`);
  }

  /** Types of tensors that a function binds, computes or checks, those of closures left out. */
  computedIn(fn: FunctionExpr): TensorType[] {
    const found: TensorType[] = [];
    for (const { variable, value } of this.#blocks.valuesIn(fn.body)) {
      if (variable !== undefined) found.push(...tensorTypesOf([variable]));
      if (value.kind === 'match') found.push(...tensorTypesOf(bindersOf(value)));
      found.push(...this.neededBy(value));
    }
    return found;
  }

  /** Types with the dimensions that a value is computed with: what it allocates, views, measures or checks. */
  neededBy(value: Expr): TensorType[] {
    if (value.kind !== 'call') return [];
    const result = this.#resultOf(value) ?? this.#measuredBy(value);
    const found = result === undefined ? [] : [result];
    for (const { left, right } of this.checksOf(value)) {
      found.push({ dtype: 'int32', shape: [left, right] });
    }
    return found;
  }

  checksOf(call: CallExpr): readonly DimCheck[] {
    const primitive = this.#blocks.kernel(call);
    if (primitive === undefined) return this.#types.checks(call);
    const calls = postOrder(primitive.body).filter((expr) => expr.kind === 'call');
    return calls.flatMap((inner) => this.#types.checks(inner));
  }

  /** The type of the tensor that a call allocates or views. */
  #resultOf(call: CallExpr): TensorType | undefined {
    const primitive = this.#blocks.kernel(call);
    if (primitive !== undefined) return this.tensorType(primitive.body);
    return operatorName(call) === VIEW_OPERATOR ? this.tensorType(call) : undefined;
  }

  /** The dimension that a call of `dim` gives: the type of the tensor says from what it follows. */
  #measuredBy(call: CallExpr): TensorType | undefined {
    const [tensor] = call.args;
    if (operatorName(call) !== DIM || tensor === undefined) return undefined;
    const size = this.tensorType(tensor).shape.at(Number(call.attributes['axis']));
    return size === undefined ? undefined : { dtype: 'int32', shape: [size] };
  }
}

/** The tensors in the types of variables, those in tuples too. */
export function tensorTypesOf(variables: readonly VarExpr[]): TensorType[] {
  return variables.flatMap(({ type }) => (type === undefined ? [] : tensorTypesIn(type)));
}

export function tensorTypesIn(type: Type): TensorType[] {
  if (type.kind === 'tensor') return [type];
  return type.kind === 'tuple' ? type.fields.flatMap(tensorTypesIn) : [];
}
