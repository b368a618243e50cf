import { forEachSymbol } from '../core/dims/dim-symbols.ts';
import type { Attributes } from '../core/contracts/primitive-function.ts';
import { call, callFunction, func, global, ifElse, variableOf } from '../compiler/ir/build.ts';
import type { CallExpr, Expr, FunctionExpr, VarExpr } from '../compiler/ir/expr.ts';
import { tensorType, type Type } from '../compiler/ir/type.ts';
import { callSite } from './call-site.ts';
import { bundle, Frame } from './trace.ts';

/** A step of a loop, as an expression of its function. */
interface LoopStep {
  readonly condition: Expr;
  readonly next: readonly Expr[];
}

/** A function that calls itself while a condition holds, and gives the last that it carries. */
interface LoopFunction {
  /** The name of the construct, which is part of the function's name. */
  readonly construct: string;
  readonly frame: Frame;
  /** Parameters that change from call to call, with what they are first. */
  readonly carried: readonly (readonly [param: VarExpr, first: Expr])[];
  /** How many of these are no part of the result: counters, which come first. */
  readonly counters: number;
  readonly step: (inner: Frame) => LoopStep;
}

/** The constructs that users wrote, such as a scan, by the functions of their loops. */
export const LOOP_CONSTRUCTS = new WeakMap<FunctionExpr, string>();

/** Writes the function of a loop into the module; gives its first call. What it captures it gets as arguments. */
export function callLoop(loop: LoopFunction): CallExpr {
  const { construct, frame, carried, counters } = loop;
  const name = frame.trace.reserve(construct);
  const inner = new Frame(frame.trace, { frame, isClosure: false });
  const { condition, next } = loop.step(inner);
  const own = carried.map(([param]) => param);
  const captured = [...inner.captured, ...carriersOf(own, inner.captured)];
  const passed = captured.map(([, param]) => param);
  const again = callFunction(global(name), [...next, ...passed], callSite());
  const results = own.slice(counters);
  const body = { ...ifElse(condition, again, bundle(results)), ...spanned() };
  const types = results.flatMap(({ type }): Type[] => (type === undefined ? [] : [type]));
  const [only] = types;
  const resultType: Type =
    types.length === 1 && only !== undefined ? only : { kind: 'tuple', fields: types };
  const fn: FunctionExpr = { ...func([...own, ...passed], body, { private: true }), resultType };
  LOOP_CONSTRUCTS.set(fn, construct);
  frame.trace.functions.set(name, fn);
  const first = [...carried.map(([, value]) => value), ...captured.map(([value]) => value)];
  return callFunction(global(name), first, callSite());
}

function spanned(): { readonly span?: NonNullable<CallExpr['span']> } {
  const span = callSite();
  return span === undefined ? {} : { span };
}

/** A parameter that tells sizes which no type of another one tells: it has no elements. */
function carriersOf(
  own: readonly VarExpr[],
  captured: Frame['captured'],
): (readonly [Expr, VarExpr])[] {
  const sizes = untoldSizes([...own, ...captured.map(([, param]) => param)]);
  if (sizes.length === 0) return [];
  const attributes: Attributes = { shape: [0, ...sizes], value: 0, dtype: 'int32' };
  const type = tensorType({ dtype: 'int32', shape: [0, ...sizes] });
  return [[call('full', [], attributes), variableOf('sizes', type)]];
}

function untoldSizes(params: readonly VarExpr[]): string[] {
  const told = new Set<string>(['?']);
  const used = new Set<string>();
  for (const { type } of params) {
    if (type?.kind !== 'tensor') continue;
    for (const dim of type.shape) {
      if (typeof dim === 'string') told.add(dim);
      else forEachSymbol(dim, (symbol) => void used.add(symbol));
    }
  }
  return [...used].filter((symbol) => !told.has(symbol));
}
