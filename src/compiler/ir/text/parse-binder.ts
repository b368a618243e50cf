import type { HostTensor } from '../../../core/tensor/host-tensor.ts';
import type { Operators } from '../../../ops/operators.ts';
import type { Bindings } from '../walk/bindings.ts';
import type { Expr, Span, VarExpr } from '../expr.ts';
import type { Token } from './lexer.ts';
import { parseType, type TypeContext } from './parse-type.ts';
import { sub, type Task } from '../task.ts';
import { describeToken } from './token-cursor.ts';

export interface ExprContext extends TypeContext {
  readonly file: string;
  readonly operators: Operators;
  /** The expressions behind the variables in scope: themselves, or the expression that `%x = e` named. */
  readonly variables: Bindings<Expr>;
  /** Called for each global function or constructor, which may be defined later. */
  referTo(kind: 'global' | 'constructor', token: Token): void;
  /** The tensor of `meta[index]`. */
  metaTensor(index: number): HostTensor | undefined;
  /** Returns true for a constructor without fields, whose name alone is a value. */
  isNullary(constructor: string): boolean;
}

/** `%x` or `%x: type`, put into the current scope. */
export function* parseBinder(context: ExprContext): Task<VarExpr> {
  const { token, variable } = yield* sub(parseVariable(context));
  define(context, token, variable);
  return variable;
}

/** `%x` or `%x: type`, in no scope yet. */
export function* parseVariable(
  context: ExprContext,
): Task<{ readonly token: Token; readonly variable: VarExpr }> {
  const { cursor } = context;
  const token = cursor.take('variable', 'a variable such as %x');
  const type = cursor.accept(':') ? yield* sub(parseType(context)) : undefined;
  const span = spanAt(context, token);
  const variable = { kind: 'var', name: token.text, span } as const;
  return { token, variable: type === undefined ? variable : { ...variable, type } };
}

export function define(context: ExprContext, token: Token, expr: Expr): void {
  if (context.variables.define(token.text, expr)) return;
  context.diagnostics.report(token, {
    got: `a second ${describeToken(token)}`,
    expected: 'each name once in a scope',
  });
}

/** Stands for a variable that was reported, so that it is reported once. */
export function defineUnknown(context: ExprContext, token: Token): VarExpr {
  const variable: VarExpr = { kind: 'var', name: token.text };
  context.variables.assume(token.text, variable);
  return variable;
}

export function spanAt({ file }: { readonly file: string }, { line, column }: Token): Span {
  return { source: file, line, column };
}
