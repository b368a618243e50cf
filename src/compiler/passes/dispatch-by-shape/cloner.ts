import { isUnknownDim } from '../../../core/dim-symbols.ts';
import type { Operators } from '../../../ops/operators.ts';
import { symbolsIn, symbolsOfType } from '../../inference/gather-dim-facts.ts';
import { call, callFunction, global, ifElse, int, projection, tuple } from '../../ir/build.ts';
import type { Expr, FunctionExpr, Module } from '../../ir/expr.ts';
import { formatType, type Type } from '../../ir/type.ts';
import { substituteSymbols } from '../bind-dims.ts';
import { TypeInference } from '../../inference/type-inference.ts';
import type { BucketLeaf, BucketSplit, BucketTree, DispatchAxis } from './plan-buckets.ts';
import { stopUntypedBranches } from './stop-untyped-branches.ts';

interface ClonerOptions {
  readonly name: string;
  readonly fn: FunctionExpr;
  readonly operators: Operators;
}

/** Makes the clones of a function and the branches that lead to them. */
export class Cloner {
  readonly clones = new Map<string, FunctionExpr>();
  readonly #name: string;
  readonly #fn: FunctionExpr;
  readonly #resultType: Type;
  readonly #module: Module;
  readonly #operators: Operators;
  readonly #names: Set<string>;
  readonly #symbols: ReadonlySet<string>;
  /** The size of each axis, one node for all branches. */
  readonly #sizes = new Map<DispatchAxis, Expr>();

  constructor(module: Module, { name, fn, operators }: ClonerOptions) {
    this.#operators = operators;
    this.#module = module;
    if (fn.resultType === undefined) throw new Error(`internal: @${name} has no result type`);
    this.#resultType = fn.resultType;
    this.#name = name;
    this.#fn = fn;
    this.#names = new Set(module.functions.keys());
    this.#symbols = symbolsIn(fn);
  }

  select(tree: BucketTree): Expr {
    if (tree.kind === 'leaf') return this.#clone(tree);
    return this.#halve(tree.axis, tree.branches);
  }

  /** Halves the intervals until one is left. Sizes between two intervals are refused by the clone. */
  #halve(axis: DispatchAxis, branches: BucketSplit['branches']): Expr {
    const [first] = branches;
    if (first === undefined) throw new Error('internal: a split without branches');
    if (branches.length === 1) return this.select(first.next);
    const middle = branches.length >> 1;
    const from = branches[middle]?.interval[0] ?? 0;
    const low = this.#halve(axis, branches.slice(0, middle));
    const high = this.#halve(axis, branches.slice(middle));
    return ifElse(call('int_lt', [this.#size(axis), int(from)]), low, high);
  }

  #size(axis: DispatchAxis): Expr {
    const size = this.#sizes.get(axis) ?? call('dim', [axis.param], { axis: axis.axis });
    this.#sizes.set(axis, size);
    return size;
  }

  /** A call of a new clone. */
  #clone({ ranges }: BucketLeaf): Expr {
    const replacements = new Map<string, number | string>();
    const bounds: Record<string, readonly [number, number]> = {};
    const parts: string[] = [];
    for (const [symbol, { min, max }] of ranges) {
      const plain = symbol.replaceAll(/[^A-Za-z0-9_]/g, '_');
      parts.push(min === max ? `${plain}_${min}` : `${plain}_${min}_${max}`);
      if (min === max && canRestore(this.#resultType, symbol)) {
        replacements.set(symbol, min);
        continue;
      }
      const name = unique(`${symbol}_${min}_${max}`, this.#symbols);
      replacements.set(symbol, name);
      bounds[name] = [min, max];
    }
    const copy = substituteSymbols(this.#fn, replacements, {
      operators: this.#operators,
      isCopy: true,
    });
    const name = unique([this.#name, ...parts].join('.'), this.#names);
    this.#names.add(name);
    const isBounded = Object.keys(bounds).length > 0;
    const attributes = { ...copy.attributes, ...(isBounded && { bounds }) };
    this.clones.set(name, this.#typed(name, { ...copy, attributes }));
    const numbers = [...replacements].filter(([, dim]) => typeof dim === 'number');
    const bound = new Set(numbers.map(([symbol]) => symbol));
    const result = callFunction(global(name), this.#fn.params);
    return restore(result, this.#resultType, bound);
  }

  #typed(name: string, clone: FunctionExpr): FunctionExpr {
    const { functions, types } = this.#module;
    const declared = { functions: new Map([...functions, [name, clone]]), types };
    return stopUntypedBranches(clone, new TypeInference(declared, this.#operators));
  }
}

/** Whether {@link restore} can give the result of a function its dimensions back. */
function canRestore(resultType: Type, symbol: string): boolean {
  const work = [resultType];
  for (let type = work.pop(); type !== undefined; type = work.pop()) {
    if (type.kind === 'tuple') work.push(...type.fields);
    else if (symbolsOfType(type).has(symbol)) {
      if (type.kind !== 'tensor' || type.shape.some(isUnknownDim)) return false;
    }
  }
  return true;
}

/**
 * The result of a clone with the dimensions of the function that it is made of, so that all branches
 * have one type: a clone says 1 where the function says n. A reshape is a view, no kernel.
 */
function restore(result: Expr, type: Type, bound: ReadonlySet<string>): Expr {
  const symbols = symbolsOfType(type);
  if (![...bound].some((symbol) => symbols.has(symbol))) return result;
  if (type.kind === 'tensor') return call('reshape', [result], { shape: type.shape });
  if (type.kind !== 'tuple') throw new Error(`internal: ${formatType(type)} is no tensor`);
  return tuple(type.fields.map((field, i) => restore(projection(result, i), field, bound)));
}

function unique(base: string, taken: ReadonlySet<string>): string {
  let name = base;
  for (let i = 1; taken.has(name); i++) name = `${base}_${i}`;
  return name;
}
