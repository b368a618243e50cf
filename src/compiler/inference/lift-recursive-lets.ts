import type { Dim } from '../../core/dims/dim.ts';
import { forEachSymbol } from '../../core/dims/dim-symbols.ts';
import { callFunction, func, global } from '../ir/build.ts';
import { placeOfFunction } from '../ir/place.ts';
import type { CallExpr, Expr, FunctionExpr, Module, VarExpr } from '../ir/expr.ts';
import { freeVariables } from '../ir/walk/free-variables.ts';
import { type RecursiveLet, recursiveLets } from '../ir/walk/recursive-lets.ts';
import type { Type } from '../ir/type.ts';
import { bindersOf, postOrder, rewrite } from '../ir/walk/visit.ts';
import { plainSymbols } from './declarations.ts';
import { symbolsIn } from './sizes/gather-dim-facts.ts';

/**
 * Makes each function that calls itself by the variable of its `let` a private global function, with the
 * variables that it captures as further parameters: passes know recursion of global functions alone. Types are
 * written in the module already.
 */
export function liftRecursiveLets(module: Module): Module {
  const functions = new Map<string, FunctionExpr>();
  for (const [name, fn] of module.functions) {
    // Before those that are made of it.
    functions.set(name, fn);
    const lets = new Set<Expr>(recursiveLets(fn.body));
    if (lets.size === 0) continue;
    const lifting = new Lifting(fn, (wanted) => {
      let free = `${name}.${wanted}`;
      for (let i = 1; functions.has(free) || module.functions.has(free); i++) {
        free = `${name}.${wanted}_${i}`;
      }
      return free;
    });
    const body = rewrite(fn.body, (expr, original) => {
      if (!lets.has(original) || expr.kind !== 'let' || expr.value.kind !== 'function') return expr;
      const lifted = lifting.lift({ ...expr, value: expr.value }, original);
      functions.set(lifted.name, lifted.fn);
      return lifted.body;
    });
    functions.set(name, { ...fn, body });
  }
  return { ...module, functions };
}

interface Lifted {
  readonly name: string;
  readonly fn: FunctionExpr;
  /** The body of the let, with calls of the new global function. */
  readonly body: Expr;
}

class Lifting {
  readonly #outer: FunctionExpr;
  readonly #nameFor: (wanted: string) => string;

  constructor(outer: FunctionExpr, nameFor: (wanted: string) => string) {
    this.#outer = outer;
    this.#nameFor = nameFor;
  }

  lift({ variable, value, body, span }: RecursiveLet, original: Expr): Lifted {
    const around = this.#around(original);
    const free = freeVariables(value).filter((one) => one !== variable);
    const captured = [...free, ...carriersOf(value, free, around)];
    const outer = around.flatMap((expr) =>
      expr.kind === 'function' ? (expr.typeParams ?? []) : [],
    );
    const name = this.#nameFor(variable.name);
    const uses = { variable, value, name, captured, typeParams: outer };
    const typeParams = [...outer, ...(value.typeParams ?? [])];
    const fn: FunctionExpr = {
      ...func([...captured, ...value.params], replaceUses(value.body, uses)),
      resultType: value.resultType,
      attributes: { private: true },
      ...(typeParams.length > 0 && { typeParams }),
      ...(span !== undefined && { span }),
    };
    return { name, fn, body: replaceUses(body, uses) };
  }

  /** The function, and what binds variables around an expression in it, from the outside in. */
  #around(inside: Expr): readonly Expr[] {
    const binds = (expr: Expr): boolean => expr.kind === 'function' || bindersOf(expr).length > 0;
    const order = postOrder(this.#outer).toReversed();
    return order.filter(
      (expr) => expr !== inside && binds(expr) && postOrder(expr).includes(inside),
    );
  }
}

/** Tensors around a function that tell sizes which it mentions and nothing else that it reads tells. */
function carriersOf(
  fn: FunctionExpr,
  free: readonly VarExpr[],
  around: readonly Expr[],
): readonly VarExpr[] {
  const known = new Set<string>(plainSymbols([...fn.params, ...free].flatMap(typesOf)));
  for (const expr of postOrder(fn.body)) {
    for (const symbol of plainSymbols(bindersOf(expr).flatMap(typesOf))) known.add(symbol);
  }
  const carriers: VarExpr[] = [];
  const candidates = around.flatMap(bindersOf);
  for (const symbol of new Set([...symbolsIn(fn), ...attributeSymbols(fn)])) {
    if (known.has(symbol)) continue;
    const carrier = candidates.find(
      (one) => one.type?.kind === 'tensor' && one.type.shape.includes(symbol),
    );
    if (carrier === undefined) continue;
    carriers.push(carrier);
    for (const told of plainSymbols(typesOf(carrier))) known.add(told);
  }
  return carriers;
}

/** Symbols that attributes mention, such as those of `shape=[n, m]`. */
function attributeSymbols(fn: FunctionExpr): Set<string> {
  const symbols = new Set<string>();
  for (const expr of postOrder(fn.body)) {
    if (expr.kind !== 'call') continue;
    for (const value of Object.values(expr.attributes)) {
      if (!Array.isArray(value)) continue;
      for (const dim of value as readonly Dim[])
        forEachSymbol(dim, (symbol) => symbols.add(symbol));
    }
  }
  return symbols;
}

function typesOf({ type }: VarExpr): readonly Type[] {
  return type === undefined ? [] : [type];
}

interface Uses {
  readonly variable: VarExpr;
  readonly value: FunctionExpr;
  readonly name: string;
  readonly captured: readonly VarExpr[];
  /** Type parameters around the function. */
  readonly typeParams: readonly string[];
}

/** Calls of the variable become calls of the global function; elsewhere a closure over that takes its place. */
function replaceUses(root: Expr, { variable, value, name, captured, typeParams }: Uses): Expr {
  const outer = typeParams.map((param): Type => ({ kind: 'type-var', name: param }));
  const typed = (call: CallExpr, own: readonly Type[]): CallExpr => {
    const typeArguments = [...outer, ...own];
    return typeArguments.length === 0 ? call : { ...call, typeArguments };
  };
  const params = value.params.map((param) => ({ ...param }));
  const own = (value.typeParams ?? []).map((param): Type => ({ kind: 'type-var', name: param }));
  const whole = callFunction(global(name), [...captured, ...params], placeOfFunction(value));
  const closure: FunctionExpr = {
    ...func(params, typed(whole, own)),
    resultType: value.resultType,
    ...(value.typeParams && { typeParams: value.typeParams }),
  };
  return rewrite(root, (expr, original) => {
    if (original === variable) return closure;
    if (original.kind !== 'call' || original.callee !== variable || expr.kind !== 'call')
      return expr;
    const call = { ...expr, callee: global(name), args: [...captured, ...expr.args] };
    return typed(call, original.typeArguments ?? []);
  });
}
