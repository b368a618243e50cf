import { tuple } from '../../ir/build.ts';
import type { Expr } from '../../ir/expr.ts';
import type { Type } from '../../ir/type.ts';
import type { Emitter } from './emitter.ts';
import type { TypedValues } from './typed-values.ts';

/** A cotangent: whole, or by fields, of which those that are absent are zero. */
export type Cotangent =
  | { readonly kind: 'whole'; readonly expr: Expr }
  | { readonly kind: 'fields'; readonly fields: readonly (Cotangent | undefined)[] };

/** The cotangents of variables as they add up, while a block is walked from its end. */
export class Cotangents {
  readonly #values: TypedValues;
  readonly #emitter: Emitter;
  readonly #known = new Map<Expr, Cotangent>();

  constructor(values: TypedValues, emitter: Emitter) {
    this.#values = values;
    this.#emitter = emitter;
  }

  /** The sum so far; undefined for zero. */
  get(variable: Expr): Cotangent | undefined {
    return this.#known.get(variable);
  }

  /** Adds to the cotangent of an operand. */
  add(operand: Expr, added: Cotangent, type: Type): void {
    if (operand.kind !== 'var' || !this.#values.hasFloats(type)) return;
    const known = this.#known.get(operand);
    this.#known.set(operand, known === undefined ? added : this.#sum(known, added, type));
  }

  /** The cotangent of a value as an expression, of the type of cotangents. */
  whole(cotangent: Cotangent | undefined, primal: Expr, type: Type): Expr {
    if (cotangent?.kind === 'whole')
      return this.#values.conform(cotangent.expr, type, this.#emitter);
    if (type.kind !== 'tuple') return this.#values.zero(primal, type, this.#emitter);
    return tuple(
      type.fields.map((field, i) => {
        if (!this.#values.hasCotangent(field)) return tuple([]);
        return this.whole(
          cotangent?.fields[i],
          this.#values.field(primal, i, this.#emitter),
          field,
        );
      }),
    );
  }

  /** The cotangent of a variable as an expression. */
  wholeOf(variable: Expr, type: Type): Expr {
    return this.whole(this.get(variable), variable, type);
  }

  /** The cotangent of a field; undefined where it is zero. */
  field(cotangent: Cotangent, index: number): Cotangent | undefined {
    if (cotangent.kind === 'fields') return cotangent.fields[index];
    return { kind: 'whole', expr: this.#values.field(cotangent.expr, index, this.#emitter) };
  }

  #sum(a: Cotangent, b: Cotangent, type: Type): Cotangent {
    if (type.kind === 'tuple') {
      const fields = type.fields.map((field, i) => {
        if (!this.#values.hasFloats(field)) return undefined;
        const [left, right] = [this.field(a, i), this.field(b, i)];
        if (left === undefined || right === undefined) return left ?? right;
        return this.#sum(left, right, field);
      });
      return { kind: 'fields', fields };
    }
    if (a.kind !== 'whole' || b.kind !== 'whole') {
      throw new Error('internal: fields of a cotangent that is no tuple');
    }
    const sum = this.#values.sum(a.expr, b.expr, { type, emitter: this.#emitter });
    return { kind: 'whole', expr: sum };
  }
}
