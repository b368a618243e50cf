import type { CallExpr, Expr, LetExpr } from '../expr.ts';
import { commonScope, type Scope, scopeIn } from '../walk/scopes.ts';
import { childrenOf } from '../walk/visit.ts';

/** The text between two braces: statements, then the result. */
export interface Block {
  readonly statements: readonly Statement[];
  readonly result: Expr;
}

/** `let` is the line `let %x = e;`, `name` is `%0 = e;`. */
interface Statement {
  readonly kind: 'name' | 'let';
  readonly expr: Expr;
}

/** The blocks and statements that a function is printed as. */
export interface Plan {
  readonly top: Block;
  /** The blocks of a function, an `if`, the clauses of a `match`, a `let` that is an operand. */
  inside(expr: Expr): readonly Block[];
  /** Returns true if a statement gives the expression a name. */
  isNamed(expr: Expr): boolean;
}

/** Tuples and projections are written in one another up to this depth. */
const MAX_INLINE_DEPTH = 8;

/**
 * Places the statements of a function: a name is given in the innermost block that holds all its
 * uses, after everything it refers to. Neither recursive nor quadratic.
 */
export function planBlocks(root: Expr): Plan {
  return new Planner(root).plan();
}

class OpenBlock implements Block {
  readonly statements: Statement[] = [];
  readonly scope: Scope;
  result: Expr;

  constructor(root: Expr, parent?: OpenBlock) {
    this.scope = scopeIn(root, parent?.scope);
    this.result = root;
  }
}

interface Uses {
  /** The innermost scope that holds all uses. */
  scope: Scope;
  count: number;
  /** Where it ends a block, as the block's root or the body of a `let` that does. */
  endOf: OpenBlock | undefined;
  isValueOfLet: boolean;
}

class Planner {
  readonly #root: Expr;
  readonly #uses = new Map<Expr, Uses>();
  readonly #blocks = new Map<Scope, OpenBlock>();
  readonly #inside = new Map<Expr, OpenBlock[]>();
  readonly #named = new Set<Expr>();
  readonly #inlineDepth = new Map<Expr, number>();

  constructor(root: Expr) {
    this.#root = root;
  }

  plan(): Plan {
    const events = visit(this.#root);
    const top = this.#block(this.#root, undefined);
    // Users come before what they use, so that all uses of an expression are known.
    for (const { kind, expr } of events.toReversed()) if (kind === 'name') this.#place(expr);
    for (const event of events) this.#state(event);
    return {
      top,
      inside: (expr) => this.#inside.get(expr) ?? [],
      isNamed: (expr) => this.#named.has(expr),
    };
  }

  #block(root: Expr, parent: OpenBlock | undefined): OpenBlock {
    const block = new OpenBlock(root, parent);
    this.#blocks.set(block.scope, block);
    this.#use(root, { block, isEnd: true });
    return block;
  }

  #use(expr: Expr, { block, isEnd = false, isValueOfLet = false }: UseOptions): void {
    const known = this.#uses.get(expr);
    if (known === undefined) {
      const endOf = isEnd ? block : undefined;
      this.#uses.set(expr, { scope: block.scope, count: 1, endOf, isValueOfLet });
    } else {
      known.scope = commonScope(known.scope, block.scope);
      known.count++;
    }
  }

  #usesOf(expr: Expr): Uses {
    const uses = this.#uses.get(expr);
    if (uses === undefined) throw new Error(`internal: a ${expr.kind} without uses is printed`);
    return uses;
  }

  #blockOf(expr: Expr): OpenBlock {
    const block = this.#blocks.get(this.#usesOf(expr).scope);
    if (block === undefined) throw new Error('internal: a scope without a block');
    return block;
  }

  /** Returns true if an expression is written only where its block ends, and so needs no name. */
  #isEnd(expr: Expr): boolean {
    const { endOf, count } = this.#usesOf(expr);
    return endOf !== undefined && count === 1;
  }

  /** Says for each child in which block it is used. */
  #place(expr: Expr): void {
    const block = this.#blockOf(expr);
    switch (expr.kind) {
      case 'function':
        this.#open(expr, [expr.body]);
        break;
      case 'if':
        this.#use(expr.condition, { block });
        this.#open(expr, [expr.thenBranch, expr.elseBranch]);
        break;
      case 'match':
        this.#use(expr.value, { block });
        this.#open(
          expr,
          expr.clauses.map(({ body }) => body),
        );
        break;
      case 'let':
        this.#placeLet(expr, block);
        break;
      default:
        for (const child of childrenOf(expr)) this.#use(child, { block });
    }
  }

  #open(expr: Expr, roots: readonly Expr[]): void {
    const parent = this.#blockOf(expr);
    this.#inside.set(
      expr,
      roots.map((root) => this.#block(root, parent)),
    );
  }

  #placeLet(expr: LetExpr, block: OpenBlock): void {
    if (this.#isEnd(expr)) {
      this.#use(expr.value, { block, isValueOfLet: true });
      this.#use(expr.body, { block, isEnd: true });
      block.result = expr.body;
      return;
    }
    this.#open(expr, [expr.body]);
    const inner = this.#inside.get(expr)?.[0] ?? block;
    this.#use(expr.value, { block: inner, isValueOfLet: true });
  }

  #state({ kind, expr }: Statement): void {
    if (kind === 'let') {
      const block = this.#inside.get(expr)?.[0] ?? this.#blockOf(expr);
      block.statements.push({ kind, expr });
    } else if (this.#needsName(expr)) {
      this.#named.add(expr);
      this.#blockOf(expr).statements.push({ kind, expr });
    }
  }

  #needsName(expr: Expr): boolean {
    switch (expr.kind) {
      case 'var':
      case 'constant':
      case 'int':
      case 'operator':
      case 'constructor':
      case 'global':
        return false;
      case 'let':
        if (this.#isEnd(expr)) return false;
        break;
      case 'tuple':
      case 'projection':
        if (this.#usesOf(expr).count === 1 && this.#isShallow(expr)) return false;
        break;
      case 'call':
        if (isConstant(expr) && this.#usesOf(expr).count === 1) return false;
        break;
      case 'function':
      case 'if':
      case 'match':
        break;
      default:
        return expr satisfies never;
    }
    const { count, isValueOfLet } = this.#usesOf(expr);
    return !this.#isEnd(expr) && !(isValueOfLet && count === 1);
  }

  #isShallow(expr: Expr): boolean {
    const depths = childrenOf(expr).map((child) =>
      this.#named.has(child) ? 0 : (this.#inlineDepth.get(child) ?? 0),
    );
    const depth = 1 + Math.max(0, ...depths);
    this.#inlineDepth.set(expr, depth);
    return depth <= MAX_INLINE_DEPTH;
  }
}

/** `Nil` reads as a constant does. */
function isConstant({ callee, args }: CallExpr): boolean {
  return callee.kind === 'constructor' && args.length === 0;
}

interface UseOptions {
  readonly block: OpenBlock;
  readonly isEnd?: boolean;
  readonly isValueOfLet?: boolean;
}

/** Every expression once, after its children; of a `let` also between its value and its body. */
function visit(root: Expr): Statement[] {
  const events: Statement[] = [];
  const seen = new Set<Expr>([root]);
  const stack = [{ expr: root, children: childrenOf(root), next: 0 }];
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    if (top.expr.kind === 'let' && top.next === 1) events.push({ kind: 'let', expr: top.expr });
    const child = top.children[top.next++];
    if (child === undefined) {
      events.push({ kind: 'name', expr: top.expr });
      stack.pop();
    } else if (!seen.has(child)) {
      seen.add(child);
      stack.push({ expr: child, children: childrenOf(child), next: 0 });
    }
  }
  return events;
}
