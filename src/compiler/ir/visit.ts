import type { CallExpr, Expr, FunctionExpr, Module } from './expr.ts';

/** The expressions that an expression is made of, in order of evaluation. */
export function childrenOf(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case 'var':
    case 'constant':
    case 'operator':
      return [];
    case 'call':
      return expr.callee.kind === 'operator' ? expr.args : [...expr.args, expr.callee];
    case 'function':
      return [expr.body];
    case 'tuple':
      return expr.fields;
    case 'projection':
      return [expr.tuple];
    default:
      return expr satisfies never;
  }
}

/**
 * Every node below `root` once, children before parents. Iterative, so that a chain of any length
 * does not overflow the stack. Bodies of nested functions are entered unless `enter` says no.
 */
export function postOrder(root: Expr, enter: (expr: Expr) => boolean = () => true): Expr[] {
  const order: Expr[] = [];
  const seen = new Set<Expr>([root]);
  const stack: { expr: Expr; children: readonly Expr[]; next: number }[] = [
    { expr: root, children: enter(root) ? childrenOf(root) : [], next: 0 },
  ];
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const child = top.children[top.next++];
    if (child === undefined) {
      order.push(top.expr);
      stack.pop();
    } else if (!seen.has(child)) {
      seen.add(child);
      stack.push({ expr: child, children: enter(child) ? childrenOf(child) : [], next: 0 });
    }
  }
  return order;
}

/**
 * Rebuilds an expression from its leaves. `replace` sees each node once, with its children already
 * replaced, and the original node. A node whose children did not change keeps its identity, and so
 * does sharing.
 */
export function rewrite(root: Expr, replace: (expr: Expr, original: Expr) => Expr): Expr {
  const results = new Map<Expr, Expr>();
  const resultOf = (expr: Expr): Expr => results.get(expr) ?? expr;
  for (const expr of postOrder(root)) {
    results.set(expr, replace(withChildren(expr, resultOf), expr));
  }
  return resultOf(root);
}

/** The same node over other children. */
export function withChildren(expr: Expr, resultOf: (child: Expr) => Expr): Expr {
  if (childrenOf(expr).every((child) => resultOf(child) === child)) return expr;
  switch (expr.kind) {
    case 'var':
    case 'constant':
    case 'operator':
      return expr;
    case 'call': {
      const callee = expr.callee.kind === 'operator' ? expr.callee : resultOf(expr.callee);
      return { ...expr, callee: asCallee(callee), args: expr.args.map(resultOf) };
    }
    case 'function':
      return { ...expr, body: resultOf(expr.body) };
    case 'tuple':
      return { ...expr, fields: expr.fields.map(resultOf) };
    case 'projection':
      return { ...expr, tuple: resultOf(expr.tuple) };
    default:
      return expr satisfies never;
  }
}

function asCallee(expr: Expr): CallExpr['callee'] {
  if (expr.kind !== 'function' && expr.kind !== 'operator') {
    throw new Error(`internal: a pass put a ${expr.kind} where a function is called`);
  }
  return expr;
}

/** The module with each global function replaced; the same module when nothing changed. */
export function mapFunctions(
  module: Module,
  replace: (fn: FunctionExpr, name: string) => FunctionExpr,
): Module {
  const functions = new Map<string, FunctionExpr>();
  let changed = false;
  for (const [name, fn] of module.functions) {
    const replaced = replace(fn, name);
    changed ||= replaced !== fn;
    functions.set(name, replaced);
  }
  return changed ? { ...module, functions } : module;
}

/** {@link rewrite} over the bodies of all global functions. */
export function rewriteBodies(
  module: Module,
  replace: (expr: Expr, original: Expr) => Expr,
): Module {
  return mapFunctions(module, (fn) => {
    const body = rewrite(fn.body, replace);
    return body === fn.body ? fn : { ...fn, body };
  });
}
