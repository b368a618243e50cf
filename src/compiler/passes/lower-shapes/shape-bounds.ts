import type { Dim } from '../../../core/dims/dim.ts';
import { UnsupportedError } from '../../../core/errors.ts';
import type { FunctionExpr, VarExpr } from '../../ir/expr.ts';
import type { ShapeSlots } from './shape-slots.ts';

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
