import type { FunctionBuilder } from '../../bytecode/function-builder.ts';
import { isSamePlace } from '../../core/source-place.ts';
import type { BlockTable } from '../ir/block.ts';
import { type Expr, type FunctionExpr, type Span, spanOf } from '../ir/expr.ts';
import { placeOfFunction } from '../ir/place.ts';
import { postOrder } from '../ir/visit.ts';

/** Tells the builder of a function which places of the source its instructions come from. */
export class InstructionPlaces {
  readonly #code: FunctionBuilder;
  readonly #blocks: BlockTable;
  /** Places by primitive function. */
  readonly #known = new Map<FunctionExpr, readonly Span[]>();

  constructor(code: FunctionBuilder, blocks: BlockTable) {
    this.#code = code;
    this.#blocks = blocks;
  }

  /** The first instructions belong to the function itself. */
  enter(fn: FunctionExpr): void {
    const span = placeOfFunction(fn);
    if (span !== undefined) this.#code.at(span);
  }

  /** The next instructions compute a value. One without a place belongs to what is before it. */
  at(value: Expr): void {
    const primitive = this.#blocks.kernel(value);
    const nodes = primitive === undefined ? [] : this.#placesIn(primitive);
    const span = spanOf(value);
    if (nodes.length > 0) this.#code.at(...nodes);
    else if (span !== undefined && value.kind !== 'var') this.#code.at(span);
  }

  /** The places of the calls that a kernel computes, in their order. */
  #placesIn(primitive: FunctionExpr): readonly Span[] {
    const known = this.#known.get(primitive);
    if (known !== undefined) return known;
    const found: Span[] = [];
    for (const expr of postOrder(primitive.body)) {
      if (expr.kind !== 'call' || expr.span === undefined) continue;
      const { span } = expr;
      if (!found.some((other) => isSamePlace(other, span))) found.push(span);
    }
    this.#known.set(primitive, found);
    return found;
  }
}
