import type {
  FunctionAttributes,
  FunctionExpr,
  Module,
  CallExpr,
  Expr,
  MatchExpr,
  VarExpr,
} from '../../ir/expr.ts';
import { BlockTable, type Block, innerBlocks, type Step } from '../../ir/walk/block.ts';
import type { TypeInference } from '../../inference/type-inference.ts';
import type { Pass } from '../pass.ts';
import { plainSymbols } from '../../inference/declarations.ts';
import { tensorTypesOf, ShapeNeeds } from '../../inference/sizes/shape-needs.ts';
import { call, letIn, variableOf } from '../../ir/build.ts';
import { MAKE_CLOSURE } from '../../ir/operators/machine-operators.ts';
import { placeOfFunction } from '../../ir/place.ts';
import { runTask, sub, type Task } from '../../ir/task.ts';
import { tensorType, type Type } from '../../ir/type.ts';
import { variablesOf, withChildren, bindersOf } from '../../ir/walk/visit.ts';
import { symbolsOfTerm, termOf } from '../../ir/term.ts';

/** The first variable in scope that brings each symbol. */
class SymbolTellers {
  /** Tensors and tuples of tensors, whose values tell the size. */
  readonly #tellers = new Map<string, VarExpr>();
  /** Variables whose type brings the symbol, data too. */
  readonly #namers = new Map<string, VarExpr>();
  /** The entries put into the maps, in order. */
  readonly #order: (readonly [map: Map<string, VarExpr>, symbol: string])[] = [];

  bind(variable: VarExpr): void {
    const { type } = variable;
    if (type === undefined || type.kind === 'scalar' || type.kind === 'function') return;
    this.#put(this.#namers, plainSymbols([type]), variable);
    this.#put(this.#tellers, plainSymbols(tensorTypesOf([variable]).map(tensorType)), variable);
  }

  /** The variable whose value tells the size. */
  tellerOf(symbol: string): VarExpr | undefined {
    return this.#tellers.get(symbol);
  }

  /** The variable whose type brings the symbol; one that tells the size, if there is one. */
  namerOf(symbol: string): VarExpr | undefined {
    return this.#tellers.get(symbol) ?? this.#namers.get(symbol);
  }

  /** A place to come back to with {@link leave}. */
  enter(): number {
    return this.#order.length;
  }

  /** Forgets what became known since. */
  leave(mark: number): void {
    for (const [map, symbol] of this.#order.splice(mark)) map.delete(symbol);
  }

  #put(map: Map<string, VarExpr>, symbols: ReadonlySet<string>, variable: VarExpr): void {
    for (const symbol of symbols) {
      if (map.has(symbol)) continue;
      map.set(symbol, variable);
      this.#order.push([map, symbol]);
    }
  }
}

/** A function that is to stand by itself. */
interface LiftedSource {
  readonly name: string;
  readonly fn: FunctionExpr;
  /** Variables around it that it needs. */
  readonly captured: readonly VarExpr[];
  /** Type parameters around it. */
  readonly typeParams: readonly string[];
  /** The function that it was in; undefined for a global one. */
  readonly outer: LiftedSource | undefined;
}

interface LiftingContext {
  /** Blocks of the global function and of all inside it. */
  readonly blocks: BlockTable;
  readonly symbols: ClosureSymbols;
  readonly nameFor: () => string;
  /**
   * Polymorphic closures by variable, in functions inside as well: no parameter could be one, so they
   * are called where they are visible and never captured.
   */
  readonly polymorphic: Map<VarExpr, LiftedSource>;
}

/** A function without functions inside; these are in {@link inner} then. */
class LiftedFunction {
  readonly inner: LiftedSource[] = [];
  readonly #source: LiftedSource;
  readonly #context: LiftingContext;
  readonly #typeParams: readonly string[];
  /** Parameters in the place of variables around the function. */
  readonly #params = new Map<VarExpr, VarExpr>();
  /** Closures by the variable that they are bound to in this function. */
  readonly #closures = new Map<VarExpr, LiftedSource>();
  /** Those of them that are values; the others are called only. */
  readonly #held = new Set<VarExpr>();
  readonly #tellers = new SymbolTellers();

  constructor(source: LiftedSource, context: LiftingContext) {
    this.#source = source;
    this.#context = context;
    this.#typeParams = [...source.typeParams, ...(source.fn.typeParams ?? [])];
  }

  rebuild(): FunctionExpr {
    const { fn, captured } = this.#source;
    for (const variable of captured) {
      this.#params.set(variable, variableOf(variable.name, variable.type));
    }
    for (const variable of [...fn.params, ...captured]) this.#tellers.bind(variable);
    const body = runTask(this.#block(fn.body));
    const params = [...fn.params, ...this.#params.values()];
    const binder = this.#typeParams.length === 0 ? {} : { typeParams: this.#typeParams };
    return { ...fn, ...binder, params, body };
  }

  *#block(root: Expr): Task<Expr> {
    const { steps, result }: Block = this.#context.blocks.of(root);
    const mark = this.#tellers.enter();
    const rebuilt: Step[] = [];
    for (const { variable, value } of steps) {
      const closure = isClosure(value) ? this.#lift(value) : undefined;
      if (closure !== undefined) this.#define(variable, closure);
      const step = closure ? this.#valueOf(closure) : yield* sub(this.#value(value));
      rebuilt.push({ variable, value: step });
      this.#tellers.bind(variable);
    }
    const last = yield* sub(this.#value(result));
    this.#tellers.leave(mark);
    return rebuilt
      .filter(({ variable }) => !this.#closures.has(variable) || this.#held.has(variable))
      .reduceRight((body, { variable, value }) => letIn(variable, value, body), last);
  }

  #define(variable: VarExpr, closure: LiftedSource): void {
    this.#closures.set(variable, closure);
    const { typeParams = [] } = closure.fn;
    if (typeParams.length > 0) this.#context.polymorphic.set(variable, closure);
  }

  *#value(value: Expr): Task<Expr> {
    if (value.kind === 'var') return this.#atom(value);
    if (value.kind === 'call') return this.#call(value);
    if (isClosure(value)) return this.#valueOf(this.#lift(value));
    if (value.kind === 'match') return yield* sub(this.#match(value));
    const blocks = new Map<Expr, Expr>();
    for (const inner of innerBlocks(value)) blocks.set(inner, yield* sub(this.#block(inner)));
    return withChildren(value, (child) => blocks.get(child) ?? this.#atom(child));
  }

  *#match(expr: MatchExpr): Task<Expr> {
    const clauses = [];
    for (const { pattern, body } of expr.clauses) {
      const mark = this.#tellers.enter();
      for (const variable of variablesOf(pattern)) this.#tellers.bind(variable);
      clauses.push({ pattern, body: yield* sub(this.#block(body)) });
      this.#tellers.leave(mark);
    }
    return { ...expr, value: this.#atom(expr.value), clauses };
  }

  #call(expr: CallExpr): Expr {
    const closure = this.#calledClosure(expr.callee);
    if (closure === undefined) return withChildren(expr, (child) => this.#atom(child));
    const args = [...expr.args, ...closure.captured].map((arg) => this.#atom(arg));
    const callee: Expr = { kind: 'global', name: closure.name };
    const types = [...typeVars(closure.typeParams), ...(expr.typeArguments ?? [])];
    return { ...expr, callee, args, ...(types.length === 0 ? {} : { typeArguments: types }) };
  }

  /** The closure that is called, where it is known. */
  #calledClosure(callee: Expr): LiftedSource | undefined {
    if (callee.kind === 'function') return isClosure(callee) ? this.#lift(callee) : undefined;
    return callee.kind === 'var' ? this.#known(callee) : undefined;
  }

  /** A closure of this function, or a polymorphic one of a function around it. */
  #known(variable: VarExpr): LiftedSource | undefined {
    return this.#closures.get(variable) ?? this.#context.polymorphic.get(variable);
  }

  #lift(fn: FunctionExpr): LiftedSource {
    const { blocks, symbols, nameFor, polymorphic } = this.#context;
    const captured = new Set(
      blocks.captured(fn).flatMap((one) => polymorphic.get(one)?.captured ?? [one]),
    );
    const { sizes, names } = symbols.missing(fn, [...captured]);
    const carriers = [
      ...[...sizes].map((symbol) => this.#tellers.tellerOf(symbol)),
      ...[...names].map((symbol) => this.#tellers.namerOf(symbol)),
    ];
    for (const carrier of carriers) if (carrier !== undefined) captured.add(carrier);
    const source = {
      name: nameFor(),
      fn,
      captured: [...captured],
      typeParams: this.#typeParams,
      outer: this.#source,
    };
    this.inner.push(source);
    return source;
  }

  #valueOf({ name, fn, captured, typeParams }: LiftedSource): Expr {
    const callee: Expr = { kind: 'global', name };
    if (captured.length === 0 && typeParams.length === 0) return callee;
    const operands = [callee, ...captured.map((variable) => this.#atom(variable))];
    const made = call(MAKE_CLOSURE, operands, {}, placeOfFunction(fn));
    return typeParams.length === 0 ? made : { ...made, typeArguments: typeVars(typeParams) };
  }

  #atom(expr: Expr): Expr {
    if (expr.kind !== 'var') return expr;
    // A primitive function that is called under a name around the function.
    const primitive = this.#source.outer && this.#context.blocks.primitive(expr);
    if (primitive !== undefined) return primitive;
    this.#held.add(expr);
    return this.#params.get(expr) ?? expr;
  }
}

function isClosure(expr: Expr): expr is FunctionExpr {
  return expr.kind === 'function' && expr.attributes.primitive === undefined;
}

function typeVars(names: readonly string[]): readonly Type[] {
  return names.map((name): Type => ({ kind: 'type-var', name }));
}

/** The symbols that a closure and those inside it mention. */
interface MentionedSymbols {
  /** Symbols in the types of tensors, whose sizes may have to be known. */
  readonly sizes: ReadonlySet<string>;
  /** Symbols in any type, which have to be those of the functions around it. */
  readonly names: ReadonlySet<string>;
}

/** The symbols that the closures of a function need of the functions around them. */
class ClosureSymbols {
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
