import {
  forEachSymbol,
  isUnknownDim,
  sameDim,
  substituteDim,
} from '../../core/dims/dim-symbols.ts';
import type { Dim } from '../../core/dims/dim.ts';
import { symbolsIn, symbolsOfType } from '../inference/sizes/gather-dim-facts.ts';
import { stronglyConnected } from '../inference/strongly-connected.ts';
import { isAtom } from '../ir/walk/atoms.ts';
import { Effects } from '../ir/walk/effects.ts';
import type { CallExpr, Expr, FunctionExpr, LetExpr, Module, VarExpr } from '../ir/expr.ts';
import { partsOfType, sameType, type Type } from '../ir/type.ts';
import { postOrder, rewrite } from '../ir/walk/visit.ts';
import type { TypeInference } from '../inference/type-inference.ts';
import { countReaders } from '../rewriting/count-readers.ts';
import { nameUnknownParams, substituteSymbols } from './dims/bind-dims.ts';
import type { Pass, PassContext } from './pass.ts';

/** Functions of up to this many expressions are inlined. */
const MAX_CALLEE_SIZE = 24;
/** A function stops to grow at this many expressions. */
const MAX_CALLER_SIZE = 4096;

/**
 * Puts the bodies of small global functions in the place of their calls, and of functions that are known where
 * they are called and nowhere else, so that later passes see
 * across them. Arguments are bound by lets, for they are computed before the call. Left alone are
 * recursive and polymorphic functions, those with effects, and calls that check sizes when the program runs. Global
 * functions stay in the module, for callers from outside may want them, but for private ones that nothing calls.
 */
export const inline: Pass = {
  name: 'inline',
  run: (module, context) => withoutUncalled(inlineFunctions(module, context)),
};

/** {@link inline}. Functions of the names in `whole` are inlined whatever their size. */
export function inlineFunctions(
  module: Module,
  { types }: PassContext,
  whole: ReadonlySet<string> = new Set(),
): Module {
  const functions = new Map(module.functions);
  const effects = new Effects(module);
  const inlinable = new Map<string, FunctionExpr>();
  let changed = false;
  // Functions come after those that they call, so that what is inlined has been done itself.
  for (const names of stronglyConnected(functions.keys(), (name) => calleesOf(module, name))) {
    for (const name of names) {
      const fn = functions.get(name);
      if (fn === undefined) continue;
      const result = inlineCalls(fn, inlinable, types);
      changed ||= result !== fn;
      functions.set(name, result);
      const isRecursive = names.length > 1 || calleesOf(module, name).includes(name);
      const isKept = isRecursive || effects.ofFunction(name);
      if (!isKept && isCopyable(result, whole.has(name) ? MAX_CALLER_SIZE : MAX_CALLEE_SIZE)) {
        inlinable.set(name, result);
      }
    }
  }
  return changed ? { ...module, functions } : module;
}

/** The module without private functions that none of the others reaches. */
function withoutUncalled(module: Module): Module {
  const isPrivate = (fn: FunctionExpr): boolean => fn.attributes.private === true;
  const reached = new Set<string>();
  for (const [name, fn] of module.functions) if (!isPrivate(fn)) reached.add(name);
  // Without an entry there is no program, which code generation says.
  if (reached.size === 0 || reached.size === module.functions.size) return module;
  // Grows while it is read.
  for (const name of reached) for (const callee of calleesOf(module, name)) reached.add(callee);
  const functions = new Map([...module.functions].filter(([name]) => reached.has(name)));
  return functions.size === module.functions.size ? module : { ...module, functions };
}

/** Global functions that a function refers to. */
function calleesOf({ functions }: Module, name: string): string[] {
  const fn = functions.get(name);
  if (fn === undefined) return [];
  const callees: string[] = [];
  for (const expr of postOrder(fn.body)) {
    if (expr.kind === 'global' && functions.has(expr.name)) callees.push(expr.name);
  }
  return callees;
}

function isCopyable({ typeParams = [], attributes, body }: FunctionExpr, size: number): boolean {
  if (typeParams.length > 0 || attributes.bounds !== undefined) return false;
  return sizeOf(body) <= size;
}

function sizeOf(body: Expr): number {
  let size = 0;
  for (const expr of postOrder(body)) if (!isAtom(expr)) size++;
  return size;
}

function inlineCalls(
  fn: FunctionExpr,
  inlinable: ReadonlyMap<string, FunctionExpr>,
  types: TypeInference,
): FunctionExpr {
  if (!postOrder(fn.body).some((expr) => mayBeInlined(expr, inlinable))) return fn;
  let size = sizeOf(fn.body);
  const rename = namesBeside(fn);
  const known = new KnownFunctions(fn, types);
  const body = rewrite(fn.body, (expr, original) => {
    known.see(expr, original);
    if (expr.kind === 'let' && known.isReduced(expr.variable)) return expr.body;
    if (expr.kind !== 'call' || original.kind !== 'call') return expr;
    const name = known.globalOf(original.callee);
    if (name === undefined) {
      const reduced = known.bodyOf(original);
      return reduced === undefined ? expr : bindArguments(reduced, expr);
    }
    const callee = inlinable.get(name);
    if (callee === undefined || size > MAX_CALLER_SIZE) return expr;
    const copy = instantiate(callee, expr, { types, rename });
    if (copy === undefined) return expr;
    known.reduce(original.callee);
    size += sizeOf(copy.body);
    return bindArguments(copy, expr);
  });
  return body === fn.body ? fn : { ...fn, body };
}

/** Most functions have no such call, and need no more than a look. */
function mayBeInlined(expr: Expr, inlinable: ReadonlyMap<string, FunctionExpr>): boolean {
  if (expr.kind !== 'call') return false;
  const { callee } = expr;
  if (callee.kind === 'global') return inlinable.has(callee.name);
  return callee.kind !== 'operator' && callee.kind !== 'constructor';
}

/** Functions inside of a body that one call reads and nothing else: they can stand in its place. */
class KnownFunctions {
  readonly #types: TypeInference;
  /** Names of sizes that callers give. */
  readonly #given: ReadonlySet<string>;
  /** True if the function mentions sizes that callers do not give. */
  readonly #namesSizes: boolean;
  readonly #readers: ReadonlyMap<Expr, number>;
  /** Functions by the variables that name them. */
  readonly #values = new Map<Expr, FunctionExpr>();
  /** Names of global functions by variables that stand for them. */
  readonly #globals = new Map<Expr, string>();
  readonly #results = new Map<Expr, FunctionExpr>();
  readonly #reduced = new Set<VarExpr>();

  constructor(fn: FunctionExpr, types: TypeInference) {
    const { params, body } = fn;
    this.#types = types;
    this.#given = new Set(params.flatMap(({ type }) => (type ? [...symbolsOfType(type)] : [])));
    this.#namesSizes = this.#namesSizesIn(fn);
    this.#readers = countReaders(body);
    for (const expr of postOrder(body)) {
      if (expr.kind !== 'let') continue;
      const { variable, value } = expr;
      if (value.kind === 'function') this.#values.set(variable, value);
      if (value.kind === 'global') this.#globals.set(variable, value.name);
    }
  }

  /** Called for each rewritten node: a function comes before its calls. */
  see(expr: Expr, original: Expr): void {
    if (expr.kind === 'function') this.#results.set(original, expr);
  }

  /** The global function that a callee is for certain. */
  globalOf(callee: Expr): string | undefined {
    return callee.kind === 'global' ? callee.name : this.#globals.get(callee);
  }

  isReduced(variable: VarExpr): boolean {
    return this.#reduced.has(variable);
  }

  bodyOf(call: CallExpr): FunctionExpr | undefined {
    const { callee } = call;
    const value = this.#values.get(callee) ?? callee;
    if (value.kind !== 'function' || value.params.length !== call.args.length) return undefined;
    if (this.#readers.get(callee) !== 1 || this.#readers.get(value) !== 1) return undefined;
    const { attributes, typeParams = [], params } = value;
    if (Object.keys(attributes).length > 0 || typeParams.length > 0) return undefined;
    const isSame = params.every(({ type }, i) => {
      const arg = call.args[i];
      if (type === undefined || arg === undefined) return false;
      return sameType(type, this.#types.of(arg)) && !mentions(type, isUnknownDim);
    });
    // Sizes that it names inside would stand beside those of other functions.
    if (!isSame || (this.#namesSizes && this.#namesSizesIn(value))) return undefined;
    const result = this.#results.get(value);
    if (result === undefined || this.#types.checks(call).length > 0) return undefined;
    this.reduce(callee);
    return result;
  }

  #namesSizesIn(fn: FunctionExpr): boolean {
    return [...symbolsIn(fn)].some((size) => !this.#given.has(size));
  }

  /** A call is replaced by its function: the name that nothing else reads goes too. */
  reduce(callee: Expr): void {
    if (callee.kind === 'var' && this.#readers.get(callee) === 1) this.#reduced.add(callee);
  }
}

/** Gives symbols names that the function does not have yet. */
function namesBeside(fn: FunctionExpr): (symbol: string) => string {
  const taken = new Set(symbolsIn(fn));
  return (symbol) => {
    let name = symbol;
    for (let i = 1; taken.has(name); i++) name = `${symbol}_${i}`;
    taken.add(name);
    return name;
  };
}

/**
 * A copy of a function for the sizes of a call; undefined where they are not known well enough to do
 * without the checks of a call.
 */
function instantiate(
  original: FunctionExpr,
  call: CallExpr,
  { types, rename }: { types: TypeInference; rename: (symbol: string) => string },
): FunctionExpr | undefined {
  if (types.checks(call).length > 0) return undefined;
  // `?` of a parameter is no name: others in the function are other sizes.
  const callee = nameUnknownParams(original);
  const symbols = new Map<string, Dim>();
  for (const [i, { type }] of callee.params.entries()) {
    const arg = call.args[i];
    if (type === undefined || arg === undefined) return undefined;
    if (!matchSymbols(type, types.of(arg), symbols)) return undefined;
  }
  // Names of sizes that are known only inside would mean those of the caller, or of another copy.
  for (const symbol of symbolsIn(callee)) {
    if (!symbols.has(symbol)) symbols.set(symbol, rename(symbol));
  }
  return substituteSymbols(callee, symbols, { operators: types.operators, isCopy: true });
}

/** Finds what the symbols in the type of a parameter stand for. */
function matchSymbols(param: Type, arg: Type, symbols: Map<string, Dim>): boolean {
  // Data and functions with sizes in their types are left to the call.
  if (param.kind !== 'tensor') return !mentions(param, (dim) => typeof dim !== 'number');
  if (arg.kind !== 'tensor' || arg.shape.includes('?')) return false;
  for (const [axis, dim] of param.shape.entries()) {
    const actual = arg.shape[axis] ?? '?';
    if (typeof dim === 'string' && !symbols.has(dim)) symbols.set(dim, actual);
    else if (!isKnown(dim, symbols) || !sameDim(substituteDim(dim, symbols), actual)) return false;
  }
  return true;
}

function isKnown(dim: Dim, symbols: ReadonlyMap<string, Dim>): boolean {
  let known = true;
  forEachSymbol(dim, (symbol) => (known &&= symbols.has(symbol)));
  return known;
}

function mentions(type: Type, isMeant: (dim: Dim) => boolean): boolean {
  if (type.kind === 'tensor') return type.shape.some(isMeant);
  return partsOfType(type).some((part) => mentions(part, isMeant));
}

/** `let param = arg; …; body` */
function bindArguments({ params, body }: FunctionExpr, { args, span }: CallExpr): Expr {
  const place = span === undefined ? {} : { span };
  return params.reduceRight<Expr>((rest, variable: VarExpr, i) => {
    const value = args[i];
    if (value === undefined) throw new Error('internal: a call with too few arguments');
    const bound: LetExpr = { kind: 'let', variable, value, body: rest, ...place };
    return bound;
  }, body);
}
