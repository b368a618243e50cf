import { callFunction, global, projection, tuple, variableOf } from '../../ir/build.ts';
import type { CallExpr, Expr, IfExpr, MatchExpr, Pattern, VarExpr } from '../../ir/expr.ts';
import { formatType, type Type } from '../../ir/type.ts';
import {
  type BranchReads,
  DerivativeBlock,
  type DerivativeMode,
  mapBodies,
} from './derivative-block.ts';
import { type BlockPlace, innerPlace } from './derivative-context.ts';
import type { Derivative, Derivatives } from './derivatives.ts';
import type { LinearStep } from './linear-steps.ts';

/** Forward mode: the tangent of each step is emitted after it. */
export class ForwardMode implements DerivativeMode {
  readonly #at: BlockPlace;
  readonly #tangents: Derivatives;

  constructor(at: BlockPlace, tangents: Derivatives) {
    this.#at = at;
    this.#tangents = tangents;
  }

  /** Emits a block, and gives its result and the tangent of that. */
  run(root: Expr): { readonly value: Expr; readonly tangent: Expr } {
    const value = new DerivativeBlock(this.#at, this).run(root);
    return { value, tangent: this.#tangentOf(value) };
  }

  #tangentOf(atom: Expr): Expr {
    return this.#tangents.wholeOf(atom, this.#typeOf(atom));
  }

  #typeOf(expr: Expr): Type {
    return this.#at.program.types.of(expr);
  }

  set(variable: VarExpr, tangent: Derivative | undefined): void {
    const type = this.#typeOf(variable);
    if (tangent === undefined || !this.#at.program.values.hasFloats(type)) return;
    this.#at.scope.active.add(variable);
    this.#tangents.add(variable, tangent, type);
  }

  linear(variable: VarExpr, step: LinearStep): void {
    this.set(variable, step.push(this.#tangents));
  }

  call(variable: VarExpr, { args, span }: CallExpr, name: string): void {
    const tangents = args.map((arg) => this.#tangentOf(arg));
    const made = global(this.#at.program.jvp(name));
    this.#both(variable, callFunction(made, [...args, ...tangents], span));
  }

  /** The fields of a pair: a value and its tangent. */
  #both(variable: VarExpr, value: Expr): void {
    const { emitter, program } = this.#at;
    const both = emitter.bind(value, 'both');
    emitter.define(variable, projection(both, 0));
    const found = emitter.bind(projection(both, 1), 't');
    const expr = program.values.conform(found, this.#typeOf(variable), emitter);
    this.set(variable, { kind: 'whole', expr });
  }

  branches(variable: VarExpr, expr: IfExpr | MatchExpr, { matched }: BranchReads): void {
    if (expr.kind === 'if' || matched === undefined) {
      this.#both(
        variable,
        mapBodies(expr, (body) => this.#branch(body, [])),
      );
      return;
    }
    const type = this.#typeOf(matched);
    const pair = this.#at.emitter.bind(tuple([matched, this.#tangentOf(matched)]));
    const clauses = expr.clauses.map(({ pattern, body }) => {
      const bound: Bound[] = [];
      const mirror = this.#mirror(pattern, type, { bound, inData: false });
      const both: Pattern = { kind: 'tuple-pattern', fields: [pattern, mirror] };
      return { pattern: both, body: this.#branch(body, bound) };
    });
    this.#both(variable, { ...expr, value: pair, clauses, complete: false });
  }

  /** A branch that gives its value and the tangent. */
  #branch(root: Expr, bound: readonly Bound[]): Expr {
    const emitter = this.#at.emitter.inner();
    const { values } = this.#at.program;
    const mode = new ForwardMode(innerPlace(this.#at, emitter), this.#tangents.inside(emitter));
    for (const { variable, tangent, inData } of bound) {
      const type = this.#typeOf(variable);
      if (!values.hasFloats(type)) continue;
      const expr = inData ? values.fromData(tangent, type, emitter) : tangent;
      mode.set(variable, { kind: 'whole', expr: values.conform(expr, type, emitter) });
    }
    const { value, tangent } = mode.run(root);
    return emitter.around(tuple([value, tangent]));
  }

  /** The same pattern over tangents. */
  #mirror(
    pattern: Pattern,
    type: Type,
    { bound, inData }: { bound: Bound[]; inData: boolean },
  ): Pattern {
    const { values } = this.#at.program;
    switch (pattern.kind) {
      case 'wildcard':
        return pattern;
      case 'int-pattern':
      case 'float-pattern':
        return { kind: 'wildcard' };
      case 'var-pattern': {
        if (!values.hasFloats(type)) return { kind: 'wildcard' };
        const tangent = variableOf('t', type);
        bound.push({ variable: pattern.variable, tangent, inData });
        return { kind: 'var-pattern', variable: tangent };
      }
      case 'tuple-pattern': {
        const types = type.kind === 'tuple' ? type.fields : [];
        const fields = pattern.fields.map((field, i) => {
          const own = types[i] ?? type;
          const isUnit = !inData && !values.hasFloats(own);
          return isUnit
            ? ({ kind: 'wildcard' } as const)
            : this.#mirror(field, own, { bound, inData });
        });
        return { ...pattern, fields };
      }
      case 'constructor-pattern': {
        if (type.kind !== 'adt') throw new Error(`internal: a pattern of ${formatType(type)}`);
        const types = values.fieldTypes(type, pattern.constructor);
        const fields = pattern.fields.map((field, i) =>
          this.#mirror(field, types[i] ?? type, { bound, inData: true }),
        );
        return { ...pattern, fields };
      }
      default:
        return pattern satisfies never;
    }
  }
}

/** A variable of a pattern and the one for its tangent. */
interface Bound {
  readonly variable: VarExpr;
  readonly tangent: VarExpr;
  /** True if the variable is bound to a field of data. */
  readonly inData: boolean;
}
