import type { MatchExpr, Pattern, VarExpr } from '../ir/expr.ts';
import { FLOAT_TYPE, INT_TYPE } from '../ir/type.ts';
import { checkClauses } from './checks/check-clauses.ts';
import type { DeclaredConstructor } from './declarations.ts';
import type { InferenceContext } from './inference-context.ts';
import {
  applied,
  ERROR_TERM,
  freshMeta,
  resolve,
  substitute,
  type Term,
  termOf,
} from '../ir/term.ts';

const INT_TERM = termOf(INT_TYPE);
const FLOAT_TERM = termOf(FLOAT_TYPE);

/** Binds the variables of a clause's pattern; false when the pattern does not fit the value. */
export function bindClause(expr: MatchExpr, index: number, inference: InferenceContext): boolean {
  const pattern = expr.clauses[index]?.pattern;
  if (pattern === undefined) return true;
  const before = inference.complaintCount;
  const part = `clause ${index + 1}`;
  bindPattern(pattern, inference.useOf(expr.value), { expr, part, inference });
  return inference.complaintCount === before;
}

/** Checks which values the clauses take. */
export function checkMatch(expr: MatchExpr, inference: InferenceContext): void {
  const { constructors } = inference.typing;
  const { missing, unreachable } = checkClauses(
    expr.clauses,
    (name) => constructors.get(name)?.definition.constructors ?? [],
  );
  for (const index of unreachable) {
    inference.typing.onWarning?.(
      `${inference.where(expr)}, clause ${index + 1}: never reached, clauses before it cover it.`,
    );
  }
  if (missing !== undefined && expr.complete) {
    inference.complain(expr, {
      got: `no clause for ${missing}`,
      expected: 'clauses for every value',
      remedy: 'Add one, or a clause for _.',
    });
  }
}

interface PatternContext {
  readonly expr: MatchExpr;
  readonly part: string;
  readonly inference: InferenceContext;
}

function bindPattern(pattern: Pattern, value: Term, context: PatternContext): void {
  const { expr, part, inference } = context;
  switch (pattern.kind) {
    case 'wildcard':
      return;
    case 'int-pattern':
      inference.require(value, INT_TERM, { at: expr, part });
      return;
    case 'float-pattern':
      inference.require(value, FLOAT_TERM, { at: expr, part });
      return;
    case 'var-pattern':
      bindVariable(pattern.variable, value, context);
      return;
    case 'tuple-pattern': {
      const known = resolve(value);
      const isTuple = known.kind === 'applied' && known.head === 'tuple';
      const fields =
        isTuple && known.args.length === pattern.fields.length
          ? known.args
          : pattern.fields.map(freshMeta);
      inference.require(value, applied('tuple', '', fields), { at: expr, part });
      bindFields(pattern.fields, fields, context);
      return;
    }
    case 'constructor-pattern': {
      const declared = inference.typing.constructors.get(pattern.constructor);
      if (declared === undefined) {
        const got = `the constructor ${pattern.constructor}`;
        inference.complain(expr, { got, expected: 'one that a type of the module has' }, part);
        bindFields(pattern.fields, [], context);
        return;
      }
      bindFields(pattern.fields, constructorFields(declared, value, context), context);
      if (pattern.fields.length !== declared.constructor.fields.length) {
        inference.complain(
          expr,
          {
            got: `${pattern.constructor} with ${pattern.fields.length} ${pattern.fields.length === 1 ? 'field' : 'fields'}`,
            expected: String(declared.constructor.fields.length),
          },
          part,
        );
      }
      return;
    }
    default:
      pattern satisfies never;
  }
}

/** The types of the fields, for a value of the data type. */
function constructorFields(
  { definition, constructor }: DeclaredConstructor,
  value: Term,
  { expr, part, inference }: PatternContext,
): Term[] {
  const args = definition.params.map(freshMeta);
  inference.require(value, applied('adt', definition.name, args), { at: expr, part });
  const types = new Map(definition.params.map((name, i) => [name, args[i] ?? ERROR_TERM]));
  return constructor.fields.map((type) => substitute(termOf(type), { types, dims: new Map() }));
}

function bindFields(
  patterns: readonly Pattern[],
  fields: readonly Term[],
  context: PatternContext,
): void {
  for (const [i, field] of patterns.entries()) {
    bindPattern(field, fields[i] ?? ERROR_TERM, context);
  }
}

function bindVariable(variable: VarExpr, value: Term, context: PatternContext): void {
  const { expr, part, inference } = context;
  if (variable.type === undefined) {
    inference.setTerm(variable, value);
    return;
  }
  const { declared, expected } = inference.declareBinding(variable.type, expr);
  inference.require(value, expected, { at: expr, part: `${part}, %${variable.name}` });
  inference.setTerm(variable, declared);
}
