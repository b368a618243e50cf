import type { Expr, FunctionExpr, Module } from '../ir/expr.ts';
import { rewrite } from '../ir/walk/visit.ts';

/** The module with a place of its own for each node that may have one: line 1, 2, … of `source`. */
export function placedModule(module: Module, source = 'random'): Module {
  let line = 0;
  const place = (expr: Expr): Expr =>
    expr.kind === 'operator' || expr.kind === 'var'
      ? expr
      : { ...expr, span: { source, line: ++line, column: 1 } };
  const functions = Array.from(module.functions, ([name, fn]): [string, FunctionExpr] => {
    const placed = rewrite(fn, place);
    return [name, placed.kind === 'function' ? placed : fn];
  });
  return { ...module, functions: new Map(functions) };
}
