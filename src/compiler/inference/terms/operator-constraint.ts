import { forEachSymbol, isUnknownDim } from '../../../core/dims/dim-symbols.ts';
import { dividesByZero, DIVISION_BY_ZERO } from '../declarations.ts';
import { CompileLimitError } from '../../../core/errors.ts';
import type { TensorType } from '../../../core/contracts/primitive-function.ts';
import { type CallExpr, spanOf } from '../../ir/expr.ts';
import { MAKE_CLOSURE } from '../../ir/operators/machine-operators.ts';
import type { ScalarOperator } from '../../ir/operators/scalar-operator.ts';
import { SCALAR_OPERATORS } from '../../ir/operators/scalar-operators.ts';
import { formatType, sameType, tensorType, type Type } from '../../ir/type.ts';
import { applyOperator, atPlace } from '../apply-operator.ts';
import { applyScalarOperator } from '../apply-scalar-operator.ts';
import type { InferenceContext } from '../inference-context.ts';
import {
  applied,
  ERROR_TERM,
  isError,
  type MetaTerm,
  resolve,
  type Term,
  termOf,
} from '../../ir/term.ts';
import type { Constraint } from './worklist.ts';

interface OperatorContext {
  /** Bound to the type of the result. */
  readonly result: MetaTerm;
  readonly context: InferenceContext;
}

const NUMBERS = {
  int: applied('scalar', 'int', []),
  float: applied('scalar', 'float', []),
};

const UNKNOWN_SIZE = {
  got: 'the dimension ?',
  expected: 'a number or a symbol',
  remedy: 'A let gives one: let %y: Tensor[(k,), float32] = …;',
};

/** The rule of an operator, which wants its operands to be tensors of known types. */
export function operatorConstraint(
  expr: CallExpr,
  op: string,
  { result, context }: OperatorContext,
): Constraint {
  const scalar = SCALAR_OPERATORS.get(op);
  checkSymbols(expr, op, context);
  const operands = (): Term[] => {
    if (scalar !== undefined) bindNumbers(expr, scalar, context);
    // A closure is made of the function itself: its symbols and type parameters stay.
    const isWhole = op === MAKE_CLOSURE;
    return expr.args.map((arg) => resolve(isWhole ? context.termOf(arg) : context.useOf(arg)));
  };
  const finish = (term: Term): true => {
    // Others may have used the result already, and so may have said what it has to be.
    if (result.binding === undefined) result.binding = term;
    else context.require(term, result, { at: expr, part: 'result' });
    return true;
  };
  return {
    attempt(closed) {
      const terms = operands();
      if (terms.some(isError)) return finish(ERROR_TERM);
      if (!closed && terms.some((term) => isOpen(term, context))) return false;
      if (terms.some((term) => term.kind === 'meta')) return false;
      const types = context.operandTypes(expr, typesOf(terms, context));
      context.recheck(() =>
        checkChange(expr, { types, now: typesOf(operands(), context) }, context),
      );
      return finish(applyRule(expr, types, { op, context }));
    },
    giveUp() {
      context.giveUp(expr, 'an operand');
      finish(ERROR_TERM);
    },
  };
}

/** Symbols in attributes have to be known where the call stands. */
function checkSymbols(expr: CallExpr, op: string, context: InferenceContext): void {
  for (const [name, spec] of Object.entries(context.typing.operators.get(op)?.attributes ?? {})) {
    const value = expr.attributes[name];
    if (spec.type !== 'dims' || typeof value !== 'object') continue;
    for (const dim of value) {
      if (dividesByZero(dim)) context.complain(expr, DIVISION_BY_ZERO, `attribute ${name}`);
      if (isUnknownDim(dim)) context.complain(expr, UNKNOWN_SIZE, `attribute ${name}`);
      forEachSymbol(dim, (symbol) => {
        if (context.scope.symbols.has(symbol)) return;
        const expected = 'a symbol that a parameter or variable has as a dimension';
        context.complain(expr, { got: `the dimension ${symbol}`, expected }, `attribute ${name}`);
      });
    }
  }
}

/**
 * An operand may have got a wider type after the rule was applied, as what `@foldl` begins with does. Another inference
 * then applies the rule to that.
 */
function checkChange(
  expr: CallExpr,
  { types, now }: { types: readonly Type[]; now: readonly Type[] },
  context: InferenceContext,
): void {
  for (const [i, was] of types.entries()) {
    const is = now[i] ?? was;
    if (sameType(was, is)) continue;
    if (context.widened === undefined) {
      context.complain(expr, {
        got: `${formatType(is)} for input ${i}`,
        expected: `${formatType(was)}, as in its earlier use`,
        remedy: 'Annotate the variable or function that it comes from.',
      });
    } else context.widened.set(expr, now);
    return;
  }
}

function typesOf(terms: readonly Term[], { unifier }: InferenceContext): Type[] {
  return terms.map((term) => unifier.typeOf(term, () => ({ kind: 'type-var', name: '_' })));
}

/** Operands of operators on numbers of the host that are not known yet are such numbers. */
function bindNumbers(
  expr: CallExpr,
  { inputs, rest }: ScalarOperator,
  context: InferenceContext,
): void {
  for (const [i, arg] of expr.args.entries()) {
    const term = resolve(context.useOf(arg));
    const kind = inputs[i] ?? rest;
    if (term.kind !== 'meta' || (kind !== 'int' && kind !== 'float')) continue;
    context.unifier.flow(term, NUMBERS[kind]);
  }
}

function isOpen(term: Term, { unifier }: InferenceContext): boolean {
  if (term.kind === 'meta') return true;
  return term.kind === 'tensor' && term.shape.some((dim) => unifier.hasOpenDims(dim));
}

function applyRule(
  expr: CallExpr,
  inputs: readonly Type[],
  { op, context }: { op: string; context: InferenceContext },
): Term {
  const scalar = SCALAR_OPERATORS.get(op);
  const tensors: TensorType[] = [];
  for (const [i, type] of inputs.entries()) {
    if (type.kind === 'tensor') tensors.push(type);
    else if (scalar === undefined) {
      const scalarType = type.kind === 'scalar' ? type.scalar : undefined;
      const isNumber = scalarType === 'int' || scalarType === 'float';
      const remedy = isNumber
        ? 'tensor_of(…, dtype="…") makes one of numbers of the host.'
        : undefined;
      const complaint = { got: formatType(type), expected: 'a tensor', remedy };
      return context.complain(expr, complaint, `input ${i}`);
    }
  }
  const { attributes } = expr;
  try {
    return scalar === undefined
      ? termOf(tensorType(applyOperator(op, tensors, attributes, context.typing).output))
      : termOf(applyScalarOperator(scalar, inputs, expr));
  } catch (thrown) {
    const error = atPlace(thrown, spanOf(expr));
    if (!(error instanceof Error) || error instanceof CompileLimitError) throw error;
    if (error.message.startsWith('internal:')) throw error;
    context.typing.diagnostics.add(spanOf(expr), error);
    return ERROR_TERM;
  }
}
