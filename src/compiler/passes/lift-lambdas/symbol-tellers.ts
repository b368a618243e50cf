import { plainSymbols } from '../../inference/declarations.ts';
import type { VarExpr } from '../../ir/expr.ts';
import { tensorType } from '../../ir/type.ts';
import { tensorTypesOf } from '../../inference/shape-needs.ts';

/** The first variable in scope that brings each symbol. */
export class SymbolTellers {
  /** Tensors and tuples of tensors, whose values tell the size. */
  readonly #tellers = new Map<string, VarExpr>();
  /** Variables whose type brings the symbol, data too. */
  readonly #namers = new Map<string, VarExpr>();
  /** The entries put into the maps, in order. */
  readonly #order: (readonly [map: Map<string, VarExpr>, symbol: string])[] = [];

  bind(variable: VarExpr): void {
    const { type } = variable;
    if (type === undefined || type.kind === 'scalar' || type.kind === 'function') return;
    this.#put(this.#namers, plainSymbols([type]), variable);
    this.#put(this.#tellers, plainSymbols(tensorTypesOf([variable]).map(tensorType)), variable);
  }

  /** The variable whose value tells the size. */
  tellerOf(symbol: string): VarExpr | undefined {
    return this.#tellers.get(symbol);
  }

  /** The variable whose type brings the symbol; one that tells the size, if there is one. */
  namerOf(symbol: string): VarExpr | undefined {
    return this.#tellers.get(symbol) ?? this.#namers.get(symbol);
  }

  /** A place to come back to with {@link leave}. */
  enter(): number {
    return this.#order.length;
  }

  /** Forgets what became known since. */
  leave(mark: number): void {
    for (const [map, symbol] of this.#order.splice(mark)) map.delete(symbol);
  }

  #put(map: Map<string, VarExpr>, symbols: ReadonlySet<string>, variable: VarExpr): void {
    for (const symbol of symbols) {
      if (map.has(symbol)) continue;
      map.set(symbol, variable);
      this.#order.push([map, symbol]);
    }
  }
}
