import { UnsupportedError } from '../../../../core/errors.ts';
import { callFunction, func, projection, tuple, variableOf } from '../../../ir/build.ts';
import { type CallExpr, type Expr, formatSpan, type FunctionExpr } from '../../../ir/expr.ts';
import { CUSTOM_GRADIENT, isGradientCall, JVP } from '../../../ir/operators/gradient-operators.ts';
import type { FunctionTypeNode, Type } from '../../../ir/type.ts';
import { postOrder, rewrite } from '../../../ir/walk/visit.ts';
import type { TypeInference } from '../../../inference/type-inference.ts';
import { countReaders } from '../../../rewriting/count-readers.ts';
import { boundSymbols, copyFunction, freshNames } from '../copy-function.ts';
import { functionTypesIn } from './type-parts.ts';

/**
 * `gradient(f)` as a value becomes `fn (%x) { gradient(f)(%x) }`, and so do its like: a function as any other. Functions
 * among the parameters of `f` are captured then, for they have no derivatives.
 */
export function derivativesAsFunctions(fn: FunctionExpr, types: TypeInference): FunctionExpr {
  const calledOnly = valuesThatAreCalled(fn.body);
  const taken = new Set(boundSymbols(fn));
  const body = rewrite(fn.body, (expr, original) => {
    if (!isGradientCall(expr) || !isGradientCall(original)) return expr;
    const type = types.of(original);
    const [operand] = original.args;
    const of = operand && types.of(operand);
    if (type.kind !== 'function' || of?.kind !== 'function') return expr;
    const hasFunctions = of.params.some((param) => functionTypesIn(param).length > 0);
    const isMark = expr.callee.name === CUSTOM_GRADIENT;
    if (calledOnly.has(original) && (isMark || !hasFunctions)) return expr;
    const made =
      isMark || !hasFunctions
        ? called(expr, type)
        : withCapturedFunctions(expr, { op: expr.callee.name, type, of });
    // Sizes of a function that stands here are those around it; those of a global function are its own.
    if (operand?.kind === 'function' || operand?.kind === 'var') return made;
    return copyFunction(made, freshNames(made, { known: new Set(), taken }), types.operators);
  });
  return body === fn.body ? fn : { ...fn, body };
}

/** Values that are called where they stand, or by the name that a let gives them, and are nothing else. */
function valuesThatAreCalled(body: Expr): ReadonlySet<Expr> {
  const readers = countReaders(body);
  const calls = new Map<Expr, number>();
  const lets = new Map<Expr, Expr>();
  for (const expr of postOrder(body)) {
    if (expr.kind === 'let') lets.set(expr.variable, expr.value);
    if (expr.kind === 'call') calls.set(expr.callee, (calls.get(expr.callee) ?? 0) + 1);
  }
  const isCalled = (expr: Expr): boolean => readers.get(expr) === calls.get(expr);
  const found = new Set<Expr>([...calls.keys()].filter(isCalled));
  for (const [variable, value] of lets) {
    if (readers.get(value) === 1 && isCalled(variable)) found.add(value);
  }
  return found;
}

function called(expr: CallExpr, { params, result }: FunctionTypeNode): FunctionExpr {
  const variables = params.map((type, i) => variableOf(`x${i}`, type));
  const made = func(variables, callFunction(expr, variables, expr.span));
  return { ...made, resultType: result };
}

function withCapturedFunctions(
  expr: CallExpr,
  { op, type, of }: { op: string; type: FunctionTypeNode; of: FunctionTypeNode },
): FunctionExpr {
  const [operand] = expr.args;
  if (operand === undefined || !of.params.some((param) => param.kind === 'function')) {
    return called(expr, type);
  }
  if (of.params.some(isTupleWithFunction)) {
    throw new UnsupportedError({
      where: formatSpan(expr.span, 'gradient'),
      got: `${op} of a function with a tuple of functions as a parameter`,
      expected: 'functions as parameters by themselves',
    });
  }
  const all = type.params.map((param, i) => variableOf(`x${i}`, param));
  const isOwn = (i: number): boolean => of.params[i]?.kind !== 'function';
  const given = all.slice(0, of.params.length);
  const others = all.slice(of.params.length);
  const own = given.filter((_, i) => isOwn(i));
  const inner = own.map((variable) => ({ ...variable }));
  let next = 0;
  const operands = given.map((variable, i) => (isOwn(i) ? (inner[next++] ?? variable) : variable));
  const closed = {
    ...func(inner, callFunction(operand, operands, expr.span)),
    resultType: of.result,
  };
  // Tangents of functions are `()`.
  const rest = op === JVP ? others.filter((_, i) => isOwn(i)) : others;
  const made = callFunction({ ...expr, args: [closed] }, [...own, ...rest], expr.span);
  const resultType = type.result;
  if (op === JVP) return { ...func(all, made), resultType };
  const result = variableOf('r');
  const cotangents = given.map((_, i) =>
    isOwn(i)
      ? projection(projection(result, 1), given.slice(0, i).filter((_of, j) => isOwn(j)).length)
      : tuple([]),
  );
  const body: Expr = {
    kind: 'let',
    variable: result,
    value: made,
    body: tuple([projection(result, 0), tuple(cotangents)]),
  };
  return { ...func(all, body), resultType };
}

function isTupleWithFunction(type: Type): boolean {
  return (
    type.kind === 'tuple' &&
    type.fields.some((field) => field.kind === 'function' || isTupleWithFunction(field))
  );
}
