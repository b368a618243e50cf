import { projection, tuple } from '../../ir/build.ts';
import type { Expr } from '../../ir/expr.ts';
import type { Type } from '../../ir/type.ts';
import type { BlockPlace } from './derivative-context.ts';
import type { Emitter } from './emitter.ts';
import type { TypedValues } from './typed-values.ts';

/** A tangent or a cotangent: whole, or by fields, of which those that are absent are zero. */
export type Derivative =
  | { readonly kind: 'whole'; readonly expr: Expr }
  | { readonly kind: 'fields'; readonly fields: readonly (Derivative | undefined)[] };

/** Derivatives of variables where an emitter stands: tangents, or cotangents as they add up. */
export class Derivatives {
  /** Takes the code that computes with them. */
  readonly emitter: Emitter;
  readonly #values: TypedValues;
  readonly #known: Map<Expr, Derivative>;

  constructor(values: TypedValues, emitter: Emitter, known = new Map<Expr, Derivative>()) {
    this.#values = values;
    this.emitter = emitter;
    this.#known = known;
  }

  /** The same where another emitter stands, inside this one. */
  inside(emitter: Emitter): Derivatives {
    return new Derivatives(this.#values, emitter, this.#known);
  }

  /** The sum so far; undefined for zero. */
  get(variable: Expr): Derivative | undefined {
    return this.#known.get(variable);
  }

  add(operand: Expr, added: Derivative, type: Type): void {
    if (operand.kind !== 'var' || !this.#values.hasFloats(type)) return;
    const known = this.#known.get(operand);
    this.#known.set(operand, known === undefined ? added : this.#sum(known, added, type));
  }

  /** Adds the fields of a tuple to the derivatives of operands that have some. */
  spread(value: Expr, operands: readonly Expr[], { program, scope }: BlockPlace): void {
    const parts = this.emitter.bind(value, 'd');
    for (const [i, operand] of operands.entries()) {
      if (!scope.active.has(operand)) continue;
      const expr = this.emitter.named(projection(parts, i));
      this.add(operand, { kind: 'whole', expr }, program.types.of(operand));
    }
  }

  /** The derivative of a value as an expression, of the type of cotangents. */
  whole(derivative: Derivative | undefined, primal: Expr, type: Type): Expr {
    if (derivative?.kind === 'whole')
      return this.#values.conform(derivative.expr, type, this.emitter);
    if (type.kind !== 'tuple') return this.#values.zero(primal, type, this.emitter);
    return tuple(
      type.fields.map((field, i) => {
        if (!this.#values.hasCotangent(field)) return tuple([]);
        const part = this.#values.field(primal, i, this.emitter);
        return this.whole(derivative?.fields[i], part, field);
      }),
    );
  }

  wholeOf(variable: Expr, type: Type): Expr {
    return this.whole(this.get(variable), variable, type);
  }

  /** The derivative of a field; undefined where it is zero. */
  field(derivative: Derivative, index: number): Derivative | undefined {
    if (derivative.kind === 'fields') return derivative.fields[index];
    return { kind: 'whole', expr: this.#values.field(derivative.expr, index, this.emitter) };
  }

  #sum(a: Derivative, b: Derivative, type: Type): Derivative {
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
      throw new Error('internal: fields of a derivative that is no tuple');
    }
    const sum = this.#values.sum(a.expr, b.expr, { type, emitter: this.emitter });
    return { kind: 'whole', expr: sum };
  }
}
