import { requireKind } from '../../../core/check-options.ts';
import { countWork } from '../../../core/limits/work-meter.ts';
import type { Expr, FunctionExpr, Module, Pattern, VarExpr } from '../expr.ts';
import { requireModule } from '../require-module.ts';

const EXPR = 'an expression, such as module.functions.get(name)';

/**
 * The expressions that an expression is made of, in order of evaluation. Of an `if` or `match` only
 * one branch is evaluated, and the body of a function only when it is called. Binders are no
 * children. Neither is an operator that is called, which is no value.
 */
export function childrenOf(expr: Expr): readonly Expr[] {
  switch (expr?.kind) {
    case 'var':
    case 'constant':
    case 'int':
    case 'operator':
    case 'constructor':
    case 'global':
      return [];
    case 'call':
      return expr.callee.kind === 'operator' ? expr.args : [...expr.args, expr.callee];
    case 'function':
      return [expr.body];
    case 'tuple':
      return expr.fields;
    case 'projection':
      return [expr.tuple];
    case 'let':
      return [expr.value, expr.body];
    case 'if':
      return [expr.condition, expr.thenBranch, expr.elseBranch];
    case 'match':
      return [expr.value, ...expr.clauses.map((clause) => clause.body)];
    default:
      requireKind('childrenOf', [EXPR, () => false], ['what is', expr]);
      return expr satisfies never;
  }
}

/** The variables that an expression binds: for a `match` those of all its clauses. */
export function bindersOf(expr: Expr): readonly VarExpr[] {
  switch (expr.kind) {
    case 'function':
      return expr.params;
    case 'let':
      return [expr.variable];
    case 'match':
      return expr.clauses.flatMap((clause) => variablesOf(clause.pattern));
    default:
      return [];
  }
}

/** The variables that a pattern binds, from left to right. */
export function variablesOf(pattern: Pattern): VarExpr[] {
  const variables: VarExpr[] = [];
  const stack = [pattern];
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    if (top.kind === 'var-pattern') variables.push(top.variable);
    else if ('fields' in top) stack.push(...top.fields.toReversed());
  }
  return variables;
}

/** Expressions never change, and several parts of a pass walk the same one. */
const ORDERS = new WeakMap<Expr, readonly Expr[]>();

/**
 * Every node below `root` once, children before parents. Iterative, so that a chain of any length
 * does not overflow the stack. Bodies of nested functions are entered unless `enter` says no.
 */
export function postOrder(root: Expr, enter?: (expr: Expr) => boolean): readonly Expr[] {
  if (enter !== undefined) return orderBelow(root, enter);
  const known = ORDERS.get(root);
  if (known !== undefined) return known;
  const order =
    root?.kind === 'function' && root.body.kind !== 'function'
      ? [...postOrder(root.body), root]
      : orderBelow(root, () => true);
  ORDERS.set(root, order);
  return order;
}

function orderBelow(root: Expr, enter: (expr: Expr) => boolean): readonly Expr[] {
  const order: Expr[] = [];
  const seen = new Set<Expr>([root]);
  // A stack of nodes, of their children, and of which of these comes next.
  const nodes = [root];
  const children = [enter(root) ? childrenOf(root) : []];
  const nexts = [0];
  for (let top = 0; top >= 0; ) {
    const next = nexts[top] ?? 0;
    nexts[top] = next + 1;
    const child = children[top]?.[next];
    if (child === undefined) {
      const node = nodes.pop();
      if (node !== undefined) order.push(node);
      children.pop();
      nexts.pop();
      top--;
      countWork();
    } else if (!seen.has(child)) {
      seen.add(child);
      const own = isLeaf(child) || !enter(child) ? [] : childrenOf(child);
      if (own.length === 0) order.push(child);
      else {
        nodes.push(child);
        children.push(own);
        nexts.push(0);
        top++;
      }
    }
  }
  return order;
}

/**
 * Rebuilds an expression from its leaves. `replace` sees each node once, with its children already
 * replaced, and the original node. A node whose children did not change keeps its identity, and so
 * does sharing. A variable that is replaced by another variable is replaced where it is bound too.
 */
export function rewrite(root: Expr, replace: (expr: Expr, original: Expr) => Expr): Expr {
  requireKind('rewrite', 'function', ['the second argument', replace]);
  const results = new Map<Expr, Expr>();
  const resultOf = (expr: Expr): Expr => results.get(expr) ?? expr;
  for (const expr of postOrder(root)) {
    const result = replace(withChildren(expr, resultOf), expr);
    if (result !== expr) results.set(expr, result);
  }
  return resultOf(root);
}

/** Returns true for a node that has no children of its own, as most nodes. */
function isLeaf(expr: Expr): boolean {
  const kind = expr?.kind;
  return kind === 'var' || kind === 'constant' || kind === 'int' || kind === 'global';
}

/**
 * The same node over other children; the same object when none differs. Binders are replaced where
 * `resultOf` gives another variable for them.
 */
export function withChildren(expr: Expr, resultOf: (child: Expr) => Expr): Expr {
  // Most nodes stay as they are, and are looked at again and again: nothing is allocated for them.
  if (isLeaf(expr) || !differs(expr, resultOf)) return expr;
  const binder = (variable: VarExpr): VarExpr => {
    const result = resultOf(variable);
    return result.kind === 'var' ? result : variable;
  };
  switch (expr.kind) {
    case 'var':
    case 'constant':
    case 'int':
    case 'operator':
    case 'constructor':
    case 'global':
      return expr;
    case 'call': {
      const callee = expr.callee.kind === 'operator' ? expr.callee : resultOf(expr.callee);
      return { ...expr, callee, args: expr.args.map(resultOf) };
    }
    case 'function':
      return { ...expr, params: expr.params.map(binder), body: resultOf(expr.body) };
    case 'tuple':
      return { ...expr, fields: expr.fields.map(resultOf) };
    case 'projection':
      return { ...expr, tuple: resultOf(expr.tuple) };
    case 'let':
      return {
        ...expr,
        variable: binder(expr.variable),
        value: resultOf(expr.value),
        body: resultOf(expr.body),
      };
    case 'if':
      return {
        ...expr,
        condition: resultOf(expr.condition),
        thenBranch: resultOf(expr.thenBranch),
        elseBranch: resultOf(expr.elseBranch),
      };
    case 'match':
      return {
        ...expr,
        value: resultOf(expr.value),
        clauses: expr.clauses.map(({ pattern, body }) => ({
          pattern: withBinders(pattern, binder),
          body: resultOf(body),
        })),
      };
    default:
      return expr satisfies never;
  }
}

function differs(expr: Expr, resultOf: (child: Expr) => Expr): boolean {
  for (const child of childrenOf(expr)) if (resultOf(child) !== child) return true;
  for (const variable of bindersOf(expr)) if (resultOf(variable) !== variable) return true;
  return false;
}

/** The same pattern over other variables; the same object when none differs. */
export function withBinders(pattern: Pattern, binder: (variable: VarExpr) => VarExpr): Pattern {
  if (variablesOf(pattern).every((variable) => binder(variable) === variable)) return pattern;
  switch (pattern.kind) {
    case 'wildcard':
    case 'int-pattern':
    case 'float-pattern':
      return pattern;
    case 'var-pattern':
      return { ...pattern, variable: binder(pattern.variable) };
    case 'constructor-pattern':
    case 'tuple-pattern':
      return { ...pattern, fields: pattern.fields.map((field) => withBinders(field, binder)) };
    default:
      return pattern satisfies never;
  }
}

/** The module with each global function replaced; the same module when nothing changed. */
export function mapFunctions(
  module: Module,
  replace: (fn: FunctionExpr, name: string) => FunctionExpr,
): Module {
  requireModule('mapFunctions', module);
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
