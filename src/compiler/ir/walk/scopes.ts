import type { Expr, FunctionExpr } from '../expr.ts';
import { childrenOf, postOrder } from './visit.ts';

/**
 * Where expressions are computed. The body of a function, each branch of an `if` and each clause of
 * a `match` is a scope: what stands in it is computed only if control comes there.
 */
export interface Scope extends AncestorNode<Scope> {
  /** The expression that evaluation of this scope gives. */
  readonly root: Expr;
  /** The function, `if` or `match` that it is a part of; absent for the body of a global function. */
  readonly opener?: Expr | undefined;
}

/** A scope within another; the outermost of a function without. */
export function scopeIn(root: Expr, parent: Scope | undefined, opener?: Expr): Scope {
  return { root, opener, ...below(parent) };
}

/** The innermost scope that holds both, of scopes of one function. */
export function commonScope(a: Scope, b: Scope): Scope {
  const common = commonAncestor(a, b);
  if (common === undefined) throw new Error('internal: scopes of different functions');
  return common;
}

/** Returns true if `inner` is `outer` or lies in it. */
export function holds(outer: Scope, inner: Scope): boolean {
  return ancestorAt(inner, outer.depth) === outer;
}

interface ScopeOptions {
  /**
   * Makes the body of a `let` a scope of its own, so that scopes tell where variables are visible.
   * By default it belongs to the scope of the `let`: both are computed together.
   */
  readonly lets?: boolean;
  /** Expressions that are not entered, such as functions that are finished. */
  readonly enter?: (expr: Expr) => boolean;
}

/**
 * The scope in which each expression is computed: the innermost that holds all its uses. That is
 * Relay's meaning of graph form.
 */
export interface Scopes {
  /** The scope of the function's body. */
  readonly top: Scope;
  /** Every expression once, children before parents: in each scope a possible order of evaluation. */
  readonly order: readonly Expr[];
  /** The scope in which an expression below the body is computed. */
  of(expr: Expr): Scope;
  /**
   * The scopes that an expression opens: one for a function, two for an `if`, one for each clause
   * of a `match`.
   */
  inside(expr: Expr): readonly Scope[];
}

/** Scopes of the body of a global function. Neither recursive nor quadratic. */
export function computeScopes(fn: FunctionExpr, options: ScopeOptions = {}): Scopes {
  const { lets = false, enter = () => true } = options;
  const order = postOrder(fn.body, options.enter);
  const top = scopeIn(fn.body, undefined);
  const scopes = new Map<Expr, Scope>([[fn.body, top]]);
  const inside = new Map<Expr, Scope[]>();
  const use = (expr: Expr, scope: Scope): void => {
    const known = scopes.get(expr);
    if (known === scope) return;
    scopes.set(expr, known === undefined ? scope : commonScope(known, scope));
  };
  const scopeOf = (expr: Expr): Scope => {
    const scope = scopes.get(expr);
    if (scope === undefined) throw new Error(`internal: a ${expr.kind} is in no scope`);
    return scope;
  };
  // Parents come before children, so that all uses of an expression are known when it is reached.
  for (const expr of order.toReversed()) {
    if (!enter(expr)) continue;
    const scope = scopeOf(expr);
    const opened: Scope[] = [];
    for (const [i, child] of childrenOf(expr).entries()) {
      if (!opensScope(expr, i, lets)) {
        use(child, scope);
        continue;
      }
      const inner = scopeIn(child, scope, expr);
      opened.push(inner);
      use(child, inner);
    }
    if (opened.length > 0) inside.set(expr, opened);
  }
  return { top, order, of: scopeOf, inside: (expr) => inside.get(expr) ?? [] };
}

/** Returns true if the child at an index, as {@link childrenOf} counts, has a scope of its own. */
function opensScope(expr: Expr, index: number, lets: boolean): boolean {
  switch (expr.kind) {
    case 'function':
      return true;
    case 'if':
    case 'match':
      return index > 0;
    case 'let':
      return lets && index > 0;
    default:
      return false;
  }
}

/** A node of a forest that knows the way to its root. */
export interface AncestorNode<N> {
  readonly parent: N | undefined;
  readonly depth: number;
  /** An ancestor further up, so that any is found in logarithmic time (Myers 1983). */
  readonly jump: N | undefined;
}

/** The links of a new node with this parent. */
export function below<N extends AncestorNode<N>>(parent: N | undefined): AncestorNode<N> {
  if (parent === undefined) return { parent, depth: 0, jump: undefined };
  return { parent, depth: parent.depth + 1, jump: jumpFrom(parent) };
}

/** The ancestor that the jump of a node with this parent leads to. */
function jumpFrom<N extends AncestorNode<N>>(parent: N): N {
  const { jump } = parent;
  const further = jump?.jump;
  if (jump === undefined || further === undefined) return parent;
  return parent.depth - jump.depth === jump.depth - further.depth ? further : parent;
}

/** The lowest node that has both below it or is one of them; undefined for nodes of two trees. */
export function commonAncestor<N extends AncestorNode<N>>(a: N, b: N): N | undefined {
  let left = ancestorAt(a, b.depth);
  let right = ancestorAt(b, a.depth);
  while (left !== right) {
    const isCommonBeyond = left.jump === right.jump;
    const nextLeft = isCommonBeyond ? left.parent : left.jump;
    const nextRight = isCommonBeyond ? right.parent : right.jump;
    if (nextLeft === undefined || nextRight === undefined) return undefined;
    left = nextLeft;
    right = nextRight;
  }
  return left;
}

/** The ancestor of a node, or the node itself, that is no deeper than `depth`. */
function ancestorAt<N extends AncestorNode<N>>(node: N, depth: number): N {
  let current = node;
  while (current.depth > depth) {
    const { jump, parent } = current;
    const next = jump !== undefined && jump.depth >= depth ? jump : parent;
    if (next === undefined) break;
    current = next;
  }
  return current;
}
