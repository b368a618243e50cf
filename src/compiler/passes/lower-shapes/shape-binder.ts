import type { Dim } from '../../../core/dims/dim.ts';
import { call, projection } from '../../ir/build.ts';
import type { Expr, FunctionExpr, VarExpr } from '../../ir/expr.ts';
import { CHECK_TENSOR } from '../../ir/operators/shape-operators.ts';
import { isSymbol, type Type } from '../../ir/type.ts';
import { tensorTypesIn } from '../../inference/sizes/shape-needs.ts';
import type { ShapeSlots } from './shape-slots.ts';
import { UnsupportedError } from '../../../core/errors.ts';

/** An axis of a parameter whose size has bounds. */
interface BoundedDim {
  readonly param: VarExpr;
  readonly rank: number;
  readonly axis: number;
  /** The size within the bounds that is nearest to that of the axis. */
  readonly nearest: Dim;
  readonly bounds: string;
}

/** The sizes that a function refuses, because its attributes give bounds of symbols. */
export class ShapeBounds {
  readonly #dims: readonly BoundedDim[];

  /** Throws UnsupportedError for bounds of what is no dimension of a parameter. */
  constructor({ params, attributes }: FunctionExpr) {
    this.#dims = Object.entries(attributes.bounds ?? {}).map(([symbol, [min, max]]) => {
      const atMost: Dim = { op: 'min', left: symbol, right: max };
      const nearest: Dim = { op: 'max', left: atMost, right: min };
      return { ...firstAxis(params, symbol), nearest, bounds: `from ${min} to ${max}` };
    });
  }

  /** Reserves slots for {@link emit}. */
  declare(slots: ShapeSlots): void {
    for (const { nearest } of this.#dims) slots.declareDim(nearest);
  }

  /** Emits the comparisons, once the symbols are known. */
  emit(slots: ShapeSlots): void {
    for (const { param, rank, axis, nearest, bounds } of this.#dims) {
      const context = `input "${param.name}", where dimension ${axis} is ${bounds}`;
      slots.matchComputed(param, { rank, later: [[axis, nearest]], context });
    }
  }
}

/** The first parameter and axis whose size is the symbol alone. */
function firstAxis(
  params: readonly VarExpr[],
  symbol: string,
): Pick<BoundedDim, 'param' | 'rank' | 'axis'> {
  for (const param of params) {
    const shape = param.type?.kind === 'tensor' ? param.type.shape : [];
    const axis = shape.indexOf(symbol);
    if (axis !== -1) return { param, rank: shape.length, axis };
  }
  throw new UnsupportedError({
    where: 'bounds',
    got: `the symbol ${symbol}`,
    expected: 'one that is a dimension of a parameter that is a tensor',
  });
}

interface BindOptions {
  /** True if the value comes from outside, so that nothing is known about it. */
  readonly isChecked: boolean;
  /** True if sizes of the value may differ from those that are known under the same names. */
  readonly isCompared?: boolean;
  /** The name of the value, for messages. */
  readonly where: string;
}

/** Compares values with their types, and learns the symbols that stand there. */
export class ShapeBinder {
  readonly #slots: ShapeSlots;

  constructor(slots: ShapeSlots) {
    this.#slots = slots;
  }

  /** Returns true if a value of this type tells a symbol that is not known yet. */
  isNew(type: Type): boolean {
    return tensorTypesIn(type).some((tensor) => this.#slots.tells(tensor));
  }

  /** Emits the checks of a value and the reads of its dimensions; those of a tuple field by field. */
  bind(value: Expr, type: Type, options: BindOptions): void {
    const { isChecked, where } = options;
    if (!this.#isRead(type, options)) return;
    if (type.kind === 'tuple') {
      for (const [i, field] of type.fields.entries()) {
        if (!this.#isRead(field, options)) continue;
        const read = this.#slots.bind(projection(value, i), 'field', field);
        this.bind(read, field, { ...options, where: `${where}.${i}` });
      }
    }
    if (type.kind !== 'tensor') return;
    if (isChecked) {
      const { dtype, shape } = type;
      this.#slots.emit(call(CHECK_TENSOR, [value], { rank: shape.length, dtype, context: where }));
    }
    this.#slots.match(value, type, where);
  }

  /** Returns true if a value has anything to check or to learn. */
  #isRead(type: Type, { isChecked, isCompared = false }: BindOptions): boolean {
    const tensors = tensorTypesIn(type);
    if (isChecked) return tensors.length > 0;
    if (isCompared && tensors.some(({ shape }) => shape.some(isNamed))) return true;
    return this.isNew(type);
  }
}

function isNamed(dim: Dim): boolean {
  return typeof dim === 'object' || isSymbol(dim);
}
