import { UnsupportedError } from '../../../core/errors.ts';
import { applyAdjoint, pullBack, RecordedGraph } from '../../../ops/adjoint/pull-back.ts';
import { GraphBuilder } from '../../../ops/adjoint/graph-builder.ts';
import type { GraphTarget, GraphTensor } from '../../../ops/adjoint/graph-target.ts';
import { projection, tuple, variableOf } from '../../ir/build.ts';
import { type CallExpr, type Expr, formatSpan, type Pattern, type VarExpr } from '../../ir/expr.ts';
import type { AdtTypeNode } from '../../ir/type.ts';
import type { BlockPlace } from './derivative-context.ts';
import type { Derivative, Derivatives } from './derivatives.ts';
import { exprOf } from '../../inference/expr-tensor.ts';
import { ExprGraph } from './expr-graph.ts';
import { construct } from './typed-values.ts';

/** A step is linear in derivatives: this maps those of what it reads, and its transpose that of its variable. */
export interface LinearStep {
  /** The tangent of the variable, from those of what the step reads; undefined for zero. */
  push(tangents: Derivatives): Derivative | undefined;
  /** Adds to the cotangents of what the step reads. */
  pull(cotangent: Derivative, cotangents: Derivatives): void;
}

/** The variable is another name, or a copy, of a value. */
export function copyStep({ program: { types } }: BlockPlace, from: Expr): LinearStep {
  return {
    push: (tangents) => tangents.get(from),
    pull: (cotangent, of) => of.add(from, cotangent, types.of(from)),
  };
}

export function tupleStep({ program, scope }: BlockPlace, fields: readonly Expr[]): LinearStep {
  return {
    push: (tangents) => ({ kind: 'fields', fields: fields.map((field) => tangents.get(field)) }),
    pull(cotangent, of) {
      for (const [i, field] of fields.entries()) {
        const part = scope.active.has(field) ? of.field(cotangent, i) : undefined;
        if (part !== undefined) of.add(field, part, program.types.of(field));
      }
    },
  };
}

export function projectionStep(
  { program: { types } }: BlockPlace,
  whole: Expr,
  index: number,
): LinearStep {
  return {
    push(tangents) {
      const tangent = tangents.get(whole);
      return tangent && tangents.field(tangent, index);
    },
    pull(cotangent, of) {
      const type = types.of(whole);
      const count = type.kind === 'tuple' ? type.fields.length : 0;
      const fields = Array.from({ length: count }, (_, i) => (i === index ? cotangent : undefined));
      of.add(whole, { kind: 'fields', fields }, type);
    },
  };
}

/** The variable is the sum of two values of its type. */
export function sumStep(
  { program: { types, values }, scope }: BlockPlace,
  variable: VarExpr,
  terms: readonly Expr[],
): LinearStep {
  return {
    push(tangents) {
      const [a = variable, b = variable] = terms.map((term) =>
        tangents.wholeOf(term, types.of(term)),
      );
      const { emitter } = tangents;
      return { kind: 'whole', expr: values.sum(a, b, { type: types.of(variable), emitter }) };
    },
    pull(cotangent, of) {
      for (const term of terms) {
        if (scope.active.has(term)) of.add(term, cotangent, types.of(term));
      }
    },
  };
}

/** `%variable = operator(…)`, by the adjoint of the operator. */
export function operatorStep(
  { program: { types, lookup }, scope }: BlockPlace,
  variable: VarExpr,
  { expr, name }: { readonly expr: CallExpr; readonly name: string },
): LinearStep {
  const { args, attributes, span, onDevice } = expr;
  const graphOf = ({ emitter }: Derivatives) => new ExprGraph(types, emitter, { span, onDevice });
  /** The cotangents of the operands, as calls that `made` takes. */
  const adjoint = (target: ExprGraph, cotangent: GraphTensor, made: GraphTarget) => {
    try {
      return applyAdjoint(name, {
        inputs: args.map((arg) => target.tensor(arg)),
        output: target.tensor(variable),
        attributes,
        cotangent,
        wants: (input) => {
          const arg = args[input];
          return arg !== undefined && scope.active.has(arg);
        },
        graph: new GraphBuilder(made),
        lookup,
      });
    } catch (thrown) {
      if (!(thrown instanceof UnsupportedError) || span === undefined) throw thrown;
      const message = `${formatSpan(span, '')}: ${thrown.message}`;
      throw new UnsupportedError(message, { cause: thrown });
    }
  };
  return {
    // The adjoint is linear in the cotangent: its own transpose maps tangents to the tangent.
    push(tangents) {
      const target = graphOf(tangents);
      const recorded = new RecordedGraph(target);
      // Its value does not matter: nothing of what is pulled back reads it.
      const cotangent = target.tensor(variable);
      const graph = new GraphBuilder(target);
      const given = new Map<GraphTensor, GraphTensor>();
      for (const [i, found] of adjoint(target, cotangent, recorded).entries()) {
        const arg = args[i];
        if (found === undefined || arg === undefined) continue;
        const tangent = target.tensor(tangents.wholeOf(arg, types.of(arg)));
        const known = given.get(found);
        given.set(found, known === undefined ? tangent : graph.add(known, tangent));
      }
      const { calls } = recorded;
      const [made] = pullBack({ calls, cotangents: given, sources: [cotangent], lookup }, graph);
      return made && { kind: 'whole', expr: exprOf(made) };
    },
    pull(cotangent, of) {
      const whole = of.whole(cotangent, variable, types.of(variable));
      const target = graphOf(of);
      for (const [i, found] of adjoint(target, target.tensor(whole), target).entries()) {
        const arg = args[i];
        if (found === undefined || arg === undefined) continue;
        of.add(arg, { kind: 'whole', expr: exprOf(found) }, types.of(arg));
      }
    },
  };
}

/** `%variable = Constructor(…)`: derivatives of data are data. */
export function constructionStep(
  { program: { types, values }, scope }: BlockPlace,
  variable: VarExpr,
  given: { readonly args: readonly Expr[]; readonly name: string; readonly type: AdtTypeNode },
): LinearStep {
  const { args, name, type } = given;
  return {
    push(tangents) {
      const { emitter } = tangents;
      const own = values.fieldTypes(type, name);
      const fields = args.map((arg, i) => {
        const tangent = tangents.wholeOf(arg, types.of(arg));
        return values.toData(tangent, arg, { type: own[i] ?? types.of(arg), emitter });
      });
      return { kind: 'whole', expr: emitter.bind(construct(name, type, fields), 't', type) };
    },
    pull(cotangent, of) {
      const { emitter } = of;
      const whole = of.whole(cotangent, variable, type);
      const made = types.of(whole);
      const own = values.fieldTypes(made.kind === 'adt' ? made : type, name);
      const fields = own.map((field, i) => variableOf(`d${i}`, field));
      const pattern: Pattern = {
        kind: 'constructor-pattern',
        constructor: name,
        fields: fields.map((field) => ({ kind: 'var-pattern', variable: field })),
      };
      const clauses = [{ pattern, body: tuple(fields) }];
      const opened: Expr = { kind: 'match', value: whole, clauses, complete: false };
      const parts = emitter.bind(opened, 'd', types.of(opened));
      for (const [i, arg] of args.entries()) {
        if (!scope.active.has(arg)) continue;
        const part = emitter.named(projection(parts, i));
        const expr = values.fromData(part, own[i] ?? types.of(arg), emitter);
        of.add(arg, { kind: 'whole', expr }, types.of(arg));
      }
    },
  };
}
