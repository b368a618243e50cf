import type { Expr, Module } from '../expr.ts';
import { operatorName } from '../operators/operator-name.ts';
import { SCALAR_OPERATORS } from '../operators/scalar-operators.ts';
import { childrenOf, postOrder } from './visit.ts';

/**
 * Finds what does more than give a value: calls of JavaScript, `print` and `assert`, and calls of functions
 * that have such calls. Passes leave these where a `let` puts them, once each and in their order. A function
 * value that is called may be any, so that in a module with effects such a call has one.
 */
export class Effects {
  /** Names of global functions whose calls have effects. */
  readonly #functions = new Set<string>();
  readonly #hasAny: boolean;
  readonly #known = new Map<Expr, boolean>();

  constructor({ functions }: Module) {
    const orders = [...functions].map(([name, fn]) => [name, postOrder(fn.body)] as const);
    this.#hasAny = orders.some(([, order]) => order.some(isEffect));
    if (!this.#hasAny) return;
    let grows = true;
    while (grows) {
      grows = false;
      for (const [name, order] of orders) {
        if (this.#functions.has(name) || !order.some((expr) => this.#isActing(expr))) continue;
        this.#functions.add(name);
        grows = true;
      }
    }
  }

  /** Returns true if computing an expression, with all operands that it needs, has an effect. */
  of(root: Expr): boolean {
    if (!this.#hasAny) return false;
    const stack = [root];
    for (let expr = stack.at(-1); expr !== undefined; expr = stack.at(-1)) {
      const children = expr.kind === 'function' ? [] : childrenOf(expr);
      const open = children.filter((child) => !this.#known.has(child));
      if (open.length === 0 || this.#known.has(expr)) {
        stack.pop();
        const acts = this.#isActing(expr) || children.some((child) => this.#known.get(child));
        this.#known.set(expr, acts);
      } else stack.push(...open);
    }
    return this.#known.get(root) ?? false;
  }

  /** Returns true if calls of a global function have effects. */
  ofFunction(name: string): boolean {
    return this.#functions.has(name);
  }

  /** Returns true for a call that has an effect itself, whatever its operands do. */
  #isActing(expr: Expr): boolean {
    if (expr.kind !== 'call') return false;
    const { callee } = expr;
    if (callee.kind === 'operator') return isEffect(expr);
    if (callee.kind === 'global') return this.#functions.has(callee.name);
    return callee.kind !== 'constructor';
  }
}

function isEffect(expr: Expr): boolean {
  return SCALAR_OPERATORS.get(operatorName(expr))?.hasEffect === true;
}
