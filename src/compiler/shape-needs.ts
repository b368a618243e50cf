import type { TensorType } from '../core/primitive-function.ts';
import type { DimCheck } from '../core/symbolic-dims.ts';
import type { BlockTable } from './block.ts';
import { symbolsOf } from './codegen-shapes.ts';
import {
  type CallExpr,
  type Expr,
  formatSpan,
  type FunctionExpr,
  spanOf,
  type VarExpr,
} from './ir/expr.ts';
import { formatType, type Type } from './ir/type.ts';
import { bindersOf, postOrder } from './ir/visit.ts';
import { VIEW_OPERATOR } from './passes/host-values.ts';
import type { TypeInference } from './type-inference.ts';

/** What a function in A-normal form has to know of dimensions. */
export class ShapeNeeds {
  readonly #types: TypeInference;
  readonly #blocks: BlockTable;
  readonly #closureSymbols: WeakMap<FunctionExpr, ReadonlySet<string>>;

  /** `closureSymbols` keeps what {@link symbolsOf} found, for the functions of a module. */
  constructor(
    types: TypeInference,
    blocks: BlockTable,
    closureSymbols: WeakMap<FunctionExpr, ReadonlySet<string>>,
  ) {
    this.#types = types;
    this.#blocks = blocks;
    this.#closureSymbols = closureSymbols;
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
      if (value.kind !== 'call') continue;
      const result = this.#resultOf(value);
      if (result !== undefined) found.push(result);
      for (const { left, right } of this.checksOf(value)) {
        found.push({ dtype: 'int32', shape: [left, right] });
      }
    }
    return found;
  }

  /** What has to hold of dimensions when a call runs. */
  checksOf(call: CallExpr): readonly DimCheck[] {
    const primitive = this.#blocks.kernel(call);
    if (primitive === undefined) return this.#types.checks(call);
    const calls = postOrder(primitive.body).filter((expr) => expr.kind === 'call');
    return calls.flatMap((inner) => this.#types.checks(inner));
  }

  /** Symbols in the types of a closure and of those inside it. */
  symbolsOf(closure: FunctionExpr): ReadonlySet<string> {
    const order: FunctionExpr[] = [];
    const work = [closure];
    for (let fn = work.pop(); fn !== undefined; fn = work.pop()) {
      if (this.#closureSymbols.has(fn)) continue;
      order.push(fn);
      work.push(...this.#blocks.functionsIn(fn.body));
    }
    for (const fn of order.toReversed()) {
      const types = [...tensorTypesOf(fn.params), ...this.computedIn(fn)];
      const symbols = new Set(types.flatMap(({ shape }) => shape.flatMap(symbolsOf)));
      for (const inner of this.#blocks.functionsIn(fn.body)) {
        for (const symbol of this.#closureSymbols.get(inner) ?? []) symbols.add(symbol);
      }
      this.#closureSymbols.set(fn, symbols);
    }
    return this.#closureSymbols.get(closure) ?? new Set();
  }

  /** The type of the tensor that a call allocates or views. */
  #resultOf(call: CallExpr): TensorType | undefined {
    const { callee } = call;
    const primitive = this.#blocks.kernel(call);
    if (primitive !== undefined) return this.tensorType(primitive.body);
    const isView = callee.kind === 'operator' && callee.name === VIEW_OPERATOR;
    return isView ? this.tensorType(call) : undefined;
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
