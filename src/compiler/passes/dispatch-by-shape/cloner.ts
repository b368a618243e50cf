import { forEachSymbol, isUnknownDim } from '../../../core/dims/dim-symbols.ts';
import { type Dim, MAX_DIMENSION } from '../../../core/dims/dim.ts';
import { ShapeError, TypeCheckError, type WeftError } from '../../../core/errors.ts';
import type { Operators } from '../../../ops/operators.ts';
import { symbolsIn, symbolsOfType } from '../../inference/sizes/gather-dim-facts.ts';
import { TypeInference } from '../../inference/type-inference.ts';
import {
  call,
  callFunction,
  global,
  ifElse,
  int,
  projection,
  stopOf,
  tuple,
} from '../../ir/build.ts';
import {
  type Expr,
  type FunctionExpr,
  type IfExpr,
  type Module,
  type Span,
  spanOf,
} from '../../ir/expr.ts';
import { placeOfFunction, withPlace } from '../../ir/place.ts';
import { formatType, type Type } from '../../ir/type.ts';
import { bindersOf, postOrder, rewrite } from '../../ir/walk/visit.ts';
import { substituteSymbols } from '../dims/bind-dims.ts';
import type { BucketLeaf, BucketSplit, BucketTree, DispatchAxis } from './plan-buckets.ts';

interface ClonerOptions {
  readonly name: string;
  readonly fn: FunctionExpr;
  readonly operators: Operators;
}

interface MadeClone {
  readonly name: string;
  /** Symbols that are numbers in it. */
  readonly bound: ReadonlySet<string>;
}

/** Makes the clones of a function and the branches that lead to them. */
export class Cloner {
  readonly clones = new Map<string, FunctionExpr>();
  readonly #name: string;
  readonly #fn: FunctionExpr;
  /** The place of what chooses among clones. */
  readonly #span: Span | undefined;
  readonly #resultType: Type;
  readonly #module: Module;
  readonly #operators: Operators;
  readonly #names: Set<string>;
  readonly #symbols: ReadonlySet<string>;
  /** The size of each axis, one node for all branches. */
  readonly #sizes = new Map<DispatchAxis, Expr>();
  readonly #made = new Map<string, MadeClone>();
  #genericName: string | undefined;

  constructor(module: Module, { name, fn, operators }: ClonerOptions) {
    this.#operators = operators;
    this.#module = module;
    if (fn.resultType === undefined) throw new Error(`internal: @${name} has no result type`);
    this.#resultType = fn.resultType;
    this.#name = name;
    this.#fn = fn;
    this.#span = placeOfFunction(fn);
    this.#names = new Set(module.functions.keys());
    this.#symbols = symbolsIn(fn);
  }

  select(tree: BucketTree): Expr {
    if (tree.kind === 'generic') return this.#generic();
    if (tree.kind === 'leaf') return this.#callOf(tree);
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
    const span = this.#span;
    const isBelow = call('int_lt', [this.#size(axis), int(from)], {}, span);
    return withPlace(ifElse(isBelow, low, high), span);
  }

  #size(axis: DispatchAxis): Expr {
    const size =
      this.#sizes.get(axis) ?? call('dim', [axis.param], { axis: axis.axis }, this.#span);
    this.#sizes.set(axis, size);
    return size;
  }

  /** A call of the function as it is. */
  #generic(): Expr {
    if (this.#genericName === undefined) {
      this.#genericName = unique(`${this.#name}.generic`, this.#names);
      this.#names.add(this.#genericName);
      const copy = substituteSymbols(this.#fn, new Map(), {
        operators: this.#operators,
        isCopy: true,
      });
      this.clones.set(this.#genericName, copy);
    }
    return callFunction(global(this.#genericName), this.#fn.params, this.#span);
  }

  /** A call of a clone, a node for each branch: one that two of them shared would be computed before both. */
  #callOf(leaf: BucketLeaf): Expr {
    const { name, bound } = this.#made.get(leaf.clone) ?? this.#clone(leaf);
    const call = callFunction(global(name), this.#fn.params, this.#span);
    return restore(call, this.#resultType, bound);
  }

  #clone({ ranges, clone }: BucketLeaf): MadeClone {
    const replacements = new Map<string, number | string>();
    const bounds: Record<string, readonly [number, number]> = {};
    const parts: string[] = [];
    for (const [symbol, { min, max }] of ranges) {
      const plain = symbol.replaceAll(/[^A-Za-z0-9_]/g, '_');
      const end = max >= MAX_DIMENSION ? 'up' : max;
      parts.push(min === max ? `${plain}_${min}` : `${plain}_${min}_${end}`);
      if (min === max && canRestore(this.#resultType, symbol)) {
        replacements.set(symbol, min);
        continue;
      }
      const name = unique(`${symbol}_${min}_${end}`, this.#symbols);
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
    const made = { name, bound: new Set(numbers.map(([symbol]) => symbol)) };
    this.#made.set(clone, made);
    return made;
  }

  #typed(name: string, clone: FunctionExpr): FunctionExpr {
    const { functions, types } = this.#module;
    const declared = { functions: new Map([...functions, [name, clone]]), types };
    return stopUntypedBranches(clone, new TypeInference(declared, this.#operators));
  }
}

/**
 * Returns true if {@link restore} can give the result of a function its dimension `symbol` back.
 */
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
  if (type.kind === 'tensor') {
    return call('reshape', [result], { shape: type.shape }, spanOf(result));
  }
  if (type.kind !== 'tuple') throw new Error(`internal: ${formatType(type)} is no tensor`);
  const span = spanOf(result);
  return tuple(
    type.fields.map((field, i) =>
      restore({ ...projection(result, i), ...(span && { span }) }, field, bound),
    ),
  );
}

function unique(base: string, taken: ReadonlySet<string>): string {
  let name = base;
  for (let i = 1; taken.has(name); i++) name = `${base}_${i}`;
  return name;
}

/**
 * A function in which sizes have become numbers, with a stop in the place of each branch that does not
 * fit them, as long as the other one does: a program that never takes the branch is right.
 */
function stopUntypedBranches(fn: FunctionExpr, types: TypeInference): FunctionExpr {
  if (!postOrder(fn.body).some(({ kind }) => kind === 'if')) return fn;
  const body = rewrite(fn.body, (expr) => (expr.kind === 'if' ? mended(expr, types) : expr));
  return body === fn.body ? fn : { ...fn, body };
}

function mended(expr: IfExpr, types: TypeInference): IfExpr {
  const [left, right] = [typeOf(expr.thenBranch, types), typeOf(expr.elseBranch, types)];
  if (isType(left) === isType(right)) return expr;
  if (isType(right)) {
    if (isType(left)) return expr;
    const stop = stopped(left, right, expr.elseBranch);
    return { ...expr, thenBranch: withPlace(stop, expr.span) };
  }
  if (!isType(left)) return expr;
  const stop = stopped(right, left, expr.thenBranch);
  return { ...expr, elseBranch: withPlace(stop, expr.span) };
}

function typeOf(branch: Expr, types: TypeInference): Type | WeftError {
  try {
    return types.of(branch);
  } catch (thrown) {
    if (thrown instanceof ShapeError || thrown instanceof TypeCheckError) return thrown;
    throw thrown;
  }
}

function isType(found: Type | WeftError): found is Type {
  return 'kind' in found;
}

/** A stop of the type of the other branch, of whose own names for sizes it knows nothing. */
function stopped(error: WeftError, type: Type, other: Expr): Expr {
  const own = new Set<string>();
  for (const expr of postOrder(other)) {
    for (const { type: bound } of bindersOf(expr)) {
      if (bound?.kind !== 'tensor') continue;
      for (const dim of bound.shape) forEachSymbol(dim, (symbol) => own.add(symbol));
    }
  }
  return stopOf(error, withoutSymbols(type, own));
}

function withoutSymbols(type: Type, symbols: ReadonlySet<string>): Type {
  if (type.kind === 'tuple') {
    return { ...type, fields: type.fields.map((field) => withoutSymbols(field, symbols)) };
  }
  if (type.kind !== 'tensor') return type;
  const shape = type.shape.map((dim): Dim => {
    let isOwn = false;
    forEachSymbol(dim, (symbol) => (isOwn ||= symbols.has(symbol)));
    return isOwn ? '?' : dim;
  });
  return { ...type, shape };
}
