import { forEachSymbol } from '../../core/dim-symbols.ts';
import type { Operators } from '../../ops/operators.ts';
import { tensorSymbols } from '../inference/declarations.ts';
import { ShapeNeeds } from '../inference/shape-needs.ts';
import { TypeInference } from '../inference/type-inference.ts';
import { BlockTable, innerBlocks } from '../ir/block.ts';
import {
  type Expr,
  formatSpan,
  type FunctionExpr,
  type Module,
  spanOf,
  type VarExpr,
} from '../ir/expr.ts';
import { runTask, sub, type Task } from '../ir/task.ts';
import { variablesOf } from '../ir/visit.ts';

/**
 * The first size that a module in A-normal form needs and that no value in scope tells before, with its place;
 * undefined if there is none. `lower-shapes` reads sizes off values in the same order.
 */
export function unknownSize(module: Module, operators: Operators): string | undefined {
  const types = new TypeInference(module, operators);
  for (const [name, fn] of module.functions) {
    const found = new SizeWalk(fn, types).unknown();
    if (found === undefined) continue;
    const where = formatSpan(spanOf(found.value), `a ${found.value.kind}`);
    return `@${name}, ${where}: no value tells the size ${found.symbol}`;
  }
  return undefined;
}

interface UnknownSize {
  readonly value: Expr;
  readonly symbol: string;
}

/** Walks the blocks of a function with the sizes that are known on the way. */
class SizeWalk {
  readonly #fn: FunctionExpr;
  readonly #blocks: BlockTable;
  readonly #needs: ShapeNeeds;
  readonly #known = new Set<string>();

  constructor(fn: FunctionExpr, types: TypeInference) {
    this.#fn = fn;
    this.#blocks = new BlockTable(fn.body);
    this.#needs = new ShapeNeeds(types, this.#blocks);
  }

  unknown(): UnknownSize | undefined {
    return runTask(this.#block(this.#fn.body, this.#fn.params));
  }

  /**
   * Finds an expression in a block that needs an unknown size. `binders`: the variables that are
   * bound where the block begins.
   */
  *#block(root: Expr, binders: readonly VarExpr[]): Task<UnknownSize | undefined> {
    const { steps, result } = this.#blocks.of(root);
    const learnt = this.#learn(binders);
    for (const { variable, value } of [...steps, { value: result, variable: undefined }]) {
      const symbol = this.#missing(value);
      if (symbol !== undefined) return { value, symbol };
      for (const [inner, bound] of blocksIn(value)) {
        const found = yield* sub(this.#block(inner, bound));
        if (found !== undefined) return found;
      }
      if (variable !== undefined) learnt.push(...this.#learn([variable]));
    }
    for (const symbol of learnt) this.#known.delete(symbol);
    return undefined;
  }

  /** Notes the sizes that variables tell; gives those that are new. */
  #learn(variables: readonly VarExpr[]): string[] {
    const symbols = variables.flatMap(({ type }) => (type ? [...tensorSymbols(type)] : []));
    const learnt = symbols.filter((symbol) => !this.#known.has(symbol));
    for (const symbol of learnt) this.#known.add(symbol);
    return learnt;
  }

  #missing(value: Expr): string | undefined {
    let missing: string | undefined;
    for (const dim of this.#needs.neededBy(value).flatMap(({ shape }) => shape)) {
      forEachSymbol(dim, (symbol) => {
        if (!this.#known.has(symbol)) missing ??= symbol;
      });
    }
    return missing;
  }
}

/** The blocks inside a value, with the variables that each binds. */
function blocksIn(value: Expr): (readonly [root: Expr, binders: readonly VarExpr[]])[] {
  if (value.kind === 'match') {
    return value.clauses.map(({ pattern, body }) => [body, variablesOf(pattern)] as const);
  }
  const callee = value.kind === 'call' ? value.callee : value;
  const params = callee.kind === 'function' ? callee.params : [];
  return innerBlocks(value).map((root) => [root, params] as const);
}
