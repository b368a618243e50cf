import type { FunctionGroup } from './encode-module.ts';
import type { Expression, Local } from './expression.ts';
import { childrenOf } from './map-expression.ts';
import type { Statement, WasmFunction } from './statement.ts';

/** The locals of a group that hold addresses. */
export type Addresses = ReadonlySet<symbol>;

/**
 * Follows addresses from the parameters of the last function through sums, choices, assignments and calls.
 * A local that a load or a store takes as it is holds an address too. Of no order: a local that holds an
 * address once always does.
 */
export function findAddresses(group: FunctionGroup, params: readonly Local[]): Addresses {
  return new AddressFlow(group, params).found;
}

/** Returns true if an i32 is an address: one plus or minus a number, or a choice of such. */
export function isAddress(expression: Expression, known: Addresses): boolean {
  if (expression.kind === 'local') return known.has(expression.id);
  if (expression.kind === 'select') {
    return isAddress(expression.whenTrue, known) || isAddress(expression.whenFalse, known);
  }
  if (expression.kind !== 'operation') return false;
  const [a, b] = expression.operands;
  if (a === undefined || b === undefined) return false;
  if (expression.name === 'i32.add') return isAddress(a, known) || isAddress(b, known);
  // The difference of two addresses is a number.
  return expression.name === 'i32.sub' && isAddress(a, known) && !isAddress(b, known);
}

class AddressFlow {
  readonly found: Set<symbol>;
  readonly #functions: ReadonlyMap<string, WasmFunction>;

  constructor(group: FunctionGroup, params: readonly Local[]) {
    this.found = new Set(params.map(({ id }) => id));
    this.#functions = new Map(group.map((fn) => [fn.name, fn]));
    let before: number;
    do {
      before = this.found.size;
      for (const { body } of group) for (const statement of body) this.#follow(statement);
    } while (this.found.size > before);
  }

  #follow(statement: Statement): void {
    switch (statement.kind) {
      case 'set':
        this.#used(statement.value);
        return this.#gives(statement.target, statement.value);
      case 'store':
        this.#used(statement.value);
        return this.#accessed(statement.address);
      case 'if':
        this.#used(statement.condition);
        for (const inner of [...statement.whenTrue, ...statement.whenFalse]) this.#follow(inner);
        return;
      case 'loop':
        this.#gives(statement.index, statement.begin);
        for (const bound of [statement.begin, statement.end]) this.#used(bound);
        for (const inner of statement.body) this.#follow(inner);
        return;
      case 'call': {
        const { params = [] } = this.#functions.get(statement.name) ?? {};
        for (const [i, arg] of statement.args.entries()) {
          this.#used(arg);
          const param = params[i];
          if (param !== undefined) this.#gives(param, arg);
        }
        return;
      }
      default:
        statement satisfies never;
    }
  }

  #gives(target: Local, value: Expression): void {
    if (isAddress(value, this.found)) this.found.add(target.id);
  }

  #accessed(address: Expression): void {
    this.#used(address);
    if (address.kind === 'local') this.found.add(address.id);
  }

  /** Loads are anywhere in expressions. */
  #used(expression: Expression): void {
    if (expression.kind === 'load') return this.#accessed(expression.address);
    for (const child of childrenOf(expression)) this.#used(child);
  }
}
