import type { BlockTable } from '../../ir/walk/block.ts';
import { plainSymbols } from '../../inference/declarations.ts';
import { symbolsOfTerm, termOf } from '../../ir/term.ts';
import type { FunctionExpr, VarExpr } from '../../ir/expr.ts';
import { tensorType, type Type } from '../../ir/type.ts';
import { bindersOf } from '../../ir/walk/visit.ts';
import { ShapeNeeds, tensorTypesOf } from '../../inference/sizes/shape-needs.ts';
import type { TypeInference } from '../../inference/type-inference.ts';

/** The symbols that a closure and those inside it mention. */
interface MentionedSymbols {
  /** Symbols in the types of tensors, whose sizes may have to be known. */
  readonly sizes: ReadonlySet<string>;
  /** Symbols in any type, which have to be those of the functions around it. */
  readonly names: ReadonlySet<string>;
}

/** The symbols that the closures of a function need of the functions around them. */
export class ClosureSymbols {
  readonly #mentioned = new Map<FunctionExpr, MentionedSymbols>();

  constructor(blocks: BlockTable, types: TypeInference) {
    const shapes = new ShapeNeeds(types, blocks);
    // Those inside others come first.
    for (const fn of blocks.closures()) {
      const { resultType = types.of(fn.body) } = fn;
      const sizes = new Set<string>();
      const tensors = [...tensorTypesOf(fn.params), ...shapes.computedIn(fn)];
      for (const type of tensors) addSymbols(tensorType(type), sizes);
      const names = addSymbols(resultType, new Set());
      for (const { type } of variablesIn(fn, blocks)) if (type) addSymbols(type, names);
      for (const inner of blocks.functionsIn(fn.body)) {
        const inside = this.#mentioned.get(inner);
        for (const symbol of inside?.sizes ?? []) sizes.add(symbol);
        for (const symbol of inside?.names ?? []) names.add(symbol);
      }
      this.#mentioned.set(fn, { sizes, names });
    }
  }

  /** Symbols that no parameter and no captured value tells. */
  missing(fn: FunctionExpr, captured: readonly VarExpr[]): MentionedSymbols {
    const variables = [...fn.params, ...captured];
    const { sizes, names } = this.#mentioned.get(fn) ?? NOTHING;
    const told = plainSymbols(tensorTypesOf(variables).map(tensorType));
    const named = plainSymbols(variables.flatMap(({ type }) => (type === undefined ? [] : [type])));
    return {
      sizes: new Set([...sizes].filter((symbol) => !told.has(symbol))),
      names: new Set([...names].filter((symbol) => !named.has(symbol))),
    };
  }
}

const NOTHING: MentionedSymbols = { sizes: new Set(), names: new Set() };

/** The variables that a closure binds, those of closures inside it left out. */
function variablesIn(fn: FunctionExpr, blocks: BlockTable): VarExpr[] {
  return blocks.valuesIn(fn.body).reduce(
    (found, { variable, value }) => {
      if (variable !== undefined) found.push(variable);
      if (value.kind === 'match') found.push(...bindersOf(value));
      return found;
    },
    [...fn.params],
  );
}

function addSymbols(type: Type, symbols: Set<string>): Set<string> {
  return symbolsOfTerm(termOf(type), { intoFunctions: true }, symbols);
}
