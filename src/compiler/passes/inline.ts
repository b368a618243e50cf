import { forEachSymbol, sameDim, substituteDim } from '../../core/dim-symbols.ts';
import type { Dim } from '../../core/dim.ts';
import { symbolsIn } from '../inference/gather-dim-facts.ts';
import { stronglyConnected } from '../inference/strongly-connected.ts';
import { isAtom } from '../ir/atoms.ts';
import { Effects } from '../ir/effects.ts';
import type { CallExpr, Expr, FunctionExpr, LetExpr, Module, VarExpr } from '../ir/expr.ts';
import type { Type } from '../ir/type.ts';
import { postOrder, rewrite } from '../ir/visit.ts';
import type { TypeInference } from '../inference/type-inference.ts';
import { substituteSymbols } from './bind-dims.ts';
import type { Pass } from './pass.ts';

/** Functions of up to this many expressions are inlined. */
const MAX_CALLEE_SIZE = 24;
/** A function stops to grow at this many expressions. */
const MAX_CALLER_SIZE = 4096;

/**
 * Puts the bodies of small global functions in the place of their calls, so that later passes see
 * across them. Arguments are bound by lets, for they are computed before the call. Left alone are
 * recursive and polymorphic functions, those with effects, and calls that check sizes when the program runs. Functions
 * stay in the module: callers from outside may want them.
 */
export const inline: Pass = {
  name: 'inline',
  run(module, { types }) {
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
        if (!isKept && isSmall(result)) inlinable.set(name, result);
      }
    }
    return changed ? { ...module, functions } : module;
  },
};

/** Global functions that a function refers to. */
function calleesOf({ functions }: Module, name: string): string[] {
  const fn = functions.get(name);
  if (fn === undefined) return [];
  return postOrder(fn.body).flatMap((expr) =>
    expr.kind === 'global' && functions.has(expr.name) ? [expr.name] : [],
  );
}

function isSmall({ typeParams = [], attributes, body }: FunctionExpr): boolean {
  if (typeParams.length > 0 || attributes.bounds !== undefined) return false;
  return sizeOf(body) <= MAX_CALLEE_SIZE;
}

function sizeOf(body: Expr): number {
  return postOrder(body).filter((expr) => !isAtom(expr)).length;
}

function inlineCalls(
  fn: FunctionExpr,
  inlinable: ReadonlyMap<string, FunctionExpr>,
  types: TypeInference,
): FunctionExpr {
  let size = sizeOf(fn.body);
  const rename = namesBeside(fn);
  const body = rewrite(fn.body, (expr) => {
    if (expr.kind !== 'call' || expr.callee.kind !== 'global') return expr;
    const callee = inlinable.get(expr.callee.name);
    if (callee === undefined || size > MAX_CALLER_SIZE) return expr;
    const copy = instantiate(callee, expr, { types, rename });
    if (copy === undefined) return expr;
    size += sizeOf(copy.body);
    return bindArguments(copy, expr);
  });
  return body === fn.body ? fn : { ...fn, body };
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
 * without the checks of a call. No node of the copy is shared with the function: two copies in two
 * branches must not become one computation before both.
 */
function instantiate(
  callee: FunctionExpr,
  call: CallExpr,
  { types, rename }: { types: TypeInference; rename: (symbol: string) => string },
): FunctionExpr | undefined {
  if (types.checks(call).length > 0) return undefined;
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
  const copy = substituteSymbols(callee, symbols, { operators: types.operators, isCopy: true });
  return { ...copy, body: rewrite(copy.body, (expr) => (isAtom(expr) ? expr : { ...expr })) };
}

/** Finds what the symbols in the type of a parameter stand for. */
function matchSymbols(param: Type, arg: Type, symbols: Map<string, Dim>): boolean {
  if (param.kind === 'scalar') return true;
  // Data and functions with sizes in their types are left to the call.
  if (param.kind !== 'tensor') return !mentionsDims(param);
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

function mentionsDims(type: Type): boolean {
  switch (type.kind) {
    case 'tensor':
      return type.shape.some((dim) => typeof dim !== 'number');
    case 'tuple':
      return type.fields.some(mentionsDims);
    case 'function':
      return [...type.params, type.result].some(mentionsDims);
    case 'adt':
      return type.args.some(mentionsDims);
    default:
      return false;
  }
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
