import type { CallExpr, Expr, FunctionExpr, VarExpr } from '../ir/expr.ts';
import { KILL } from '../ir/operators/machine-operators.ts';
import { runTask, sub, type Task } from '../ir/task.ts';
import { childrenOf, postOrder } from '../ir/walk/visit.ts';
import { operatorName } from '../ir/operators/operator-name.ts';

/**
 * Calls `complain` with each use of a variable behind a `kill` of it, on any way to there: what one
 * branch has killed is gone after the `if`. A closure holds what it captures: its body begins with
 * nothing killed.
 */
export function verifyKills(fn: FunctionExpr, complain: (variable: VarExpr) => void): void {
  if (postOrder(fn.body).some((expr) => isKill(expr))) {
    runTask(new KillVerifier(complain).block(fn.body, true));
  }
}

class KillVerifier {
  readonly #complain: (variable: VarExpr) => void;
  #killed = new Set<VarExpr>();
  /** The killed variables in order, so that a branch can take them back at its end. */
  #order: VarExpr[] = [];

  constructor(complain: (variable: VarExpr) => void) {
    this.#complain = complain;
  }

  /** `returns`: whether nothing of the function is left to be done after the block. */
  *block(root: Expr, returns: boolean): Task<void> {
    let current = root;
    for (; current.kind === 'let'; current = current.body) {
      yield* sub(this.#value(current.value, false));
    }
    yield* sub(this.#value(current, returns));
  }

  /** A value with all that is computed for it, in order. */
  *#value(value: Expr, returns: boolean): Task<void> {
    for (const expr of postOrder(value, (inner) => !hasBlocks(inner))) {
      if (expr.kind === 'var') this.#use(expr);
      else if (expr.kind === 'let') yield* sub(this.block(expr, false));
      else if (expr.kind === 'function') yield* sub(this.#closure(expr));
      else if (hasBlocks(expr)) yield* sub(this.#branches(expr, returns && expr === value));
      else if (isKill(expr)) this.#kill(expr);
    }
  }

  *#branches(expr: Expr, returns: boolean): Task<void> {
    const [condition, ...branches] = childrenOf(expr);
    if (condition !== undefined) yield* sub(this.#value(condition, false));
    const killed: VarExpr[] = [];
    for (const branch of branches) {
      const mark = this.#order.length;
      yield* sub(this.block(branch, returns));
      const inside = this.#order.splice(mark);
      for (const variable of inside) this.#killed.delete(variable);
      if (!returns) killed.push(...inside);
    }
    for (const variable of killed) this.#add(variable);
  }

  *#closure(fn: FunctionExpr): Task<void> {
    if (this.#killed.size > 0) {
      for (const expr of postOrder(fn.body)) if (expr.kind === 'var') this.#use(expr);
    }
    const [killed, order] = [this.#killed, this.#order];
    this.#killed = new Set();
    this.#order = [];
    yield* sub(this.block(fn.body, true));
    this.#killed = killed;
    this.#order = order;
  }

  #use(variable: VarExpr): void {
    if (this.#killed.has(variable)) this.#complain(variable);
  }

  #kill({ args: [variable] }: CallExpr): void {
    if (variable?.kind === 'var') this.#add(variable);
  }

  #add(variable: VarExpr): void {
    if (this.#killed.has(variable)) return;
    this.#killed.add(variable);
    this.#order.push(variable);
  }
}

/** Returns true for expressions with blocks: parts that are computed later, or in one case only. */
function hasBlocks({ kind }: Expr): boolean {
  return kind === 'if' || kind === 'match' || kind === 'function' || kind === 'let';
}

function isKill(expr: Expr): expr is CallExpr {
  return operatorName(expr) === KILL;
}
