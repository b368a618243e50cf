import { isUnknownDim } from '../../../core/dims/dim-symbols.ts';
import type { Dim } from '../../../core/dims/dim.ts';
import { isAtom } from '../../ir/walk/atoms.ts';
import type { Expr, Span, VarExpr } from '../../ir/expr.ts';
import { withPlace } from '../../ir/place.ts';
import type { TypeInference } from '../../inference/type-inference.ts';
import type { Type } from '../../ir/type.ts';

/** Collects the lets of a block in their order. */
export class Emitter {
  readonly #types: TypeInference;
  readonly #steps: { readonly variable: VarExpr; readonly value: Expr }[] = [];

  readonly #taken: Set<string>;
  #span: Span | undefined;

  /** `taken` are the names of sizes in the function, to which new ones are added. */
  constructor(types: TypeInference, span?: Span, taken = new Set<string>()) {
    this.#types = types;
    this.#span = span;
    this.#taken = taken;
  }

  get span(): Span | undefined {
    return this.#span;
  }

  /** Sets the place in the source of all steps from now on; undefined keeps the one before. */
  at(span: Span | undefined): void {
    this.#span = span ?? this.#span;
  }

  /** A block of its own, to be computed inside this one. */
  inner(): Emitter {
    return new Emitter(this.#types, this.#span, this.#taken);
  }

  /** Binds a value by a let, and gives the variable. */
  bind(value: Expr, name = 'g', type: Type = this.#types.of(value)): VarExpr {
    const variable: VarExpr = { kind: 'var', name, type };
    this.define(variable, value);
    return variable;
  }

  /** Binds a value, with a name for each of its unknown dimensions. */
  named(value: Expr, name = 'd'): VarExpr {
    const variable = this.variableFor(name, value);
    this.define(variable, value);
    return variable;
  }

  /** A variable for a value, which names its unknown dimensions. */
  variableFor(name: string, value: Expr): VarExpr {
    const type = this.#types.of(value);
    const own = type.kind === 'tensor' ? { ...type, shape: this.namedShape(type.shape) } : type;
    return { kind: 'var', name, type: own };
  }

  /** A shape with new names for its unknown dimensions. */
  namedShape(shape: readonly Dim[]): readonly Dim[] {
    return shape.map((dim) => (isUnknownDim(dim) ? this.#newSymbol() : dim));
  }

  #newSymbol(): string {
    let count = this.#taken.size;
    while (this.#taken.has(`g${count}`)) count++;
    this.#taken.add(`g${count}`);
    return `g${count}`;
  }

  /** Binds a variable that exists already. */
  define(variable: VarExpr, value: Expr): void {
    this.#steps.push({ variable, value: this.#flat(value) });
  }

  /** The value with its operands bound, so that blocks are in A-normal form. */
  #flat(given: Expr): Expr {
    const value = this.#placed(given);
    const atom = (operand: Expr): Expr => (isAtom(operand) ? operand : this.bind(operand));
    switch (value.kind) {
      case 'tuple':
        return { ...value, fields: value.fields.map(atom) };
      case 'call':
        return { ...value, args: value.args.map(atom) };
      case 'projection':
        return { ...value, tuple: atom(value.tuple) };
      case 'match':
        return { ...value, value: atom(value.value) };
      default:
        return value;
    }
  }

  #placed(value: Expr): Expr {
    const isFunction = value.kind === 'function' && value.span === undefined;
    if (!isFunction || this.#span === undefined) return withPlace(value, this.#span);
    return { ...value, span: this.#span };
  }

  around(result: Expr): Expr {
    let body = this.#flat(result);
    for (const { variable, value } of this.#steps.toReversed()) {
      body = { kind: 'let', variable, value, body };
    }
    return body;
  }
}
