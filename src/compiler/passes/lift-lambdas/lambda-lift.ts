import type { FunctionAttributes, FunctionExpr, Module } from '../../ir/expr.ts';
import { BlockTable } from '../../ir/walk/block.ts';
import { LiftedFunction, type LiftedSource, ClosureSymbols } from './lifted-function.ts';
import type { TypeInference } from '../../inference/type-inference.ts';
import type { Pass } from '../pass.ts';

/**
 * Makes global functions of the functions inside others. What such a function reads of those around
 * it becomes parameters behind its own (`captured` says how many), and so do tensors that it does not
 * read but whose shapes tell symbols in it. The value is `make_closure(@f.fn, captured…)` then, or
 * `@f.fn` where nothing is captured; a call where it is known which closure it is calls the global
 * function. Type parameters around it come before its own. In A-normal form.
 */
export const lambdaLift: Pass = {
  name: 'lambda-lift',
  run(module, { types }) {
    types.declare(module);
    const names = new FunctionNames(module);
    const functions = new Map<string, FunctionExpr>();
    for (const [name, fn] of module.functions) {
      for (const [lifted, result] of lift(name, fn, { types, names }))
        functions.set(lifted, result);
    }
    if (functions.size === module.functions.size) return module;
    return { ...module, functions };
  },
};

/** A global function and those that were inside it, the outer ones first. */
function lift(
  name: string,
  fn: FunctionExpr,
  { types, names }: { readonly types: TypeInference; readonly names: FunctionNames },
): ReadonlyMap<string, FunctionExpr> {
  const blocks = new BlockTable(fn.body);
  const functions = new Map([[name, fn]]);
  if (blocks.closures().length === 0) return functions;
  const symbols = new ClosureSymbols(blocks, types);
  const context = { blocks, symbols, nameFor: () => names.next(name), polymorphic: new Map() };
  const waiting: LiftedSource[] = [{ name, fn, captured: [], typeParams: [], outer: undefined }];
  // Grows while it is read.
  for (const source of waiting) {
    const found = new LiftedFunction(source, context);
    functions.set(source.name, withAttributes(found.rebuild(), source, fn.attributes));
    waiting.push(...found.inner);
  }
  return functions;
}

/** Facts of symbols around a function hold in it, too. */
function withAttributes(
  fn: FunctionExpr,
  { outer, captured }: LiftedSource,
  { bounds }: FunctionAttributes,
): FunctionExpr {
  if (outer === undefined) return fn;
  const known = bounds === undefined ? {} : { bounds };
  return { ...fn, attributes: { ...fn.attributes, ...known, captured: captured.length } };
}

/** Names for functions that were inside others: `main.fn`, `main.fn_1`, … */
class FunctionNames {
  readonly #taken: Set<string>;
  readonly #counts = new Map<string, number>();

  constructor({ functions }: Module) {
    this.#taken = new Set(functions.keys());
  }

  next(owner: string): string {
    const base = `${owner}.fn`;
    let count = this.#counts.get(base) ?? 0;
    let name = count === 0 ? base : `${base}_${count}`;
    while (this.#taken.has(name)) name = `${base}_${++count}`;
    this.#counts.set(base, count);
    this.#taken.add(name);
    return name;
  }
}
