import { forEachSymbol } from '../../../core/dims/dim-symbols.ts';
import type { IndexCheck } from '../../../core/contracts/index-checks.ts';

/** The demands of the main graph on the indices that it is called with. */
export class IndexChecks {
  readonly #checks: IndexCheck[] = [];
  /** Symbols of the inputs' dimensions. */
  readonly #symbols: ReadonlySet<string>;
  /** Symbols that are elements of inputs. */
  readonly #sizes = new Map<string, { readonly parameter: number; readonly element: number }>();

  constructor(symbols: ReadonlySet<string>) {
    this.#symbols = symbols;
  }

  /** A dimension that a call brings with it, as an element of a parameter. */
  addSize(symbol: string, parameter: number, element: number): void {
    this.#sizes.set(symbol, { parameter, element });
  }

  /** False where the range depends on what only the running program knows. */
  add(check: Omit<IndexCheck, 'function' | 'sizes'>): boolean {
    const sizes: Record<string, { readonly parameter: number; readonly element: number }> = {};
    let isKnown = true;
    for (const dim of [...check.lower, ...check.below]) {
      // Beyond 2^53 nothing is counted; a tensor of that size is refused elsewhere.
      if (dim === '?' || (typeof dim === 'number' && !Number.isSafeInteger(dim))) isKnown = false;
      forEachSymbol(dim, (symbol) => {
        const size = this.#sizes.get(symbol);
        if (size !== undefined) sizes[symbol] = size;
        else if (!this.#symbols.has(symbol)) isKnown = false;
      });
    }
    if (!isKnown) return false;
    const given = Object.keys(sizes).length === 0 ? {} : { sizes };
    this.#checks.push({ function: 'main', ...check, ...given });
    return true;
  }

  /** The checks as the metadata of an executable has them; empty for none. */
  toJson(): string {
    return this.#checks.length === 0 ? '' : JSON.stringify(this.#checks);
  }
}
