import { checkOptions } from '../../core/check-options.ts';
import { CORE_OPERATORS } from '../../ops/tables/core-operators.ts';
import type { Operators } from '../../ops/operators.ts';
import { checkNesting } from '../ir/text/check-nesting.ts';
import type { Expr, FunctionExpr, Module, CallExpr, VarExpr } from '../ir/expr.ts';
import type { Type, TypeDefinition } from '../ir/type.ts';
import { postOrder, bindersOf, rewrite } from '../ir/walk/visit.ts';
import { constructorsOf, typeFault, plainSymbols } from './declarations.ts';
import { elaborate } from './elaborate.ts';
import { gatherDimFacts, symbolsIn } from './sizes/gather-dim-facts.ts';
import { ExpressionInference } from './infer-expression.ts';
import {
  InferenceContext,
  type Signature,
  type TypingContext,
  type WidenedOperands,
} from './inference-context.ts';
import { stronglyConnected } from './strongly-connected.ts';
import { type AppliedTerm, ERROR_TERM, functionTerm, termOf } from '../ir/term.ts';
import { type SourceTexts, TEXTS, TypeDiagnostics } from './checks/type-diagnostics.ts';
import type { Dim } from '../../core/dims/dim.ts';
import { forEachSymbol } from '../../core/dims/dim-symbols.ts';
import { callFunction, func, global } from '../ir/build.ts';
import { placeOfFunction } from '../ir/place.ts';
import { freeVariables } from '../ir/walk/free-variables.ts';
import { type RecursiveLet, recursiveLets } from '../ir/walk/recursive-lets.ts';

/**
 * Makes each function that calls itself by the variable of its `let` a private global function, with the
 * variables that it captures as further parameters: passes know recursion of global functions alone. Types are
 * written in the module already.
 */
function liftRecursiveLets(module: Module): Module {
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

/** A type becomes wider by few dimensions, and what follows from that is known at once. */
const MAX_INFERENCES = 8;

interface InferOptions {
  /** Texts by the name in spans, for excerpts in messages. */
  readonly texts?: SourceTexts | undefined;
  /** Called with what is well-typed and yet odd: a clause that is never reached. */
  readonly onWarning?: ((message: string) => void) | undefined;
  /** Default: the core operators. */
  readonly operators?: Operators | undefined;
  /**
   * Gives branches whose dimensions differ a type with `?`, even where none is declared. A pass may have found
   * out more about one branch than the source says. Default: false.
   */
  readonly widensBranches?: boolean | undefined;
}

/**
 * Infers the types of a module and writes them down: afterwards every variable has a type, every
 * function its `resultType`, and every call of a polymorphic function its `typeArguments`. A function that calls
 * itself by the variable of its let becomes a private global one. The same module when all of that is there already.
 *
 * Throws one TypeCheckError for all that is wrong (the first 20 places); a single complaint of an
 * operator is thrown as it is (ShapeError, UnsupportedError).
 */
export function inferModule(module: Module, options: InferOptions = {}): Module {
  checkNesting(module, 'inferModule');
  checkOptions<InferOptions>('inferModule', options, {
    texts: TEXTS,
    onWarning: 'function',
    operators: 'operators',
    widensBranches: 'boolean',
  });
  const { texts, onWarning, operators = CORE_OPERATORS, widensBranches } = options;
  const diagnostics = new TypeDiagnostics(texts);
  const constructors = constructorsOf(module.types);
  const signatures = new Map<string, Signature>();
  const typing = {
    types: module.types,
    constructors,
    signatures,
    diagnostics,
    onWarning,
    facts: gatherDimFacts(module.functions),
    operators,
    widensBranches,
  };
  checkDefinitions(module.types, diagnostics);
  for (const [name, fn] of module.functions) {
    const term = declaredSignature(fn);
    if (term !== undefined) signatures.set(name, { term, isOpen: false, paramNames: names(fn) });
  }
  const elaborated = new Map<string, FunctionExpr>();
  let hasRecursiveLets = false;
  for (const component of componentsOf(module.functions)) {
    const { context, complaints, isLifted } = inferTogether(component, typing);
    hasRecursiveLets ||= isLifted;
    const found = diagnostics.count > complaints ? undefined : elaborate(component, context);
    for (const [name, fn] of component) {
      const result = found?.get(name);
      if (result !== undefined) elaborated.set(name, result);
      const declared = result && declaredSignature(result);
      const isOpen = signatures.get(name)?.isOpen === true;
      if (declared === undefined && !isOpen) continue;
      // A type that a mistake left open fits everywhere, so that callers report no errors because
      // of it.
      const term = declared ?? ERROR_TERM;
      signatures.set(name, { term, isOpen: false, paramNames: names(result ?? fn) });
    }
  }
  diagnostics.throwIfAny();
  const typed = withFunctions(module, elaborated);
  return hasRecursiveLets ? liftRecursiveLets(typed) : typed;
}

interface TogetherInferred {
  readonly context: InferenceContext;
  readonly complaints: number;
  /** True if a function calls itself by the variable of a let, which has to be lifted. */
  readonly isLifted: boolean;
}

/**
 * Infers functions that call each other. An operator's rule may be applied to a type that becomes wider afterwards:
 * then once more from the start, with what is known now, as long as that helps.
 */
function inferTogether(
  component: readonly (readonly [string, FunctionExpr])[],
  typing: TypingContext & { readonly signatures: Map<string, Signature> },
): TogetherInferred {
  const { signatures, diagnostics } = typing;
  const open = component.filter(([name]) => !signatures.has(name));
  const complaints = diagnostics.count;
  const known: WidenedOperands = new Map();
  for (let left = MAX_INFERENCES; ; left--) {
    // Of the last time alone.
    const warnings: string[] = [];
    const onWarning = (message: string): void => void warnings.push(message);
    const context = new InferenceContext({ ...typing, onWarning }, { known, isLast: left === 1 });
    const inference = new ExpressionInference(context);
    for (const [name, fn] of open) {
      signatures.set(name, { term: inference.open(fn), isOpen: true, paramNames: names(fn) });
    }
    for (const [name, fn] of component) inference.inferGlobal(name, fn);
    context.solve();
    const { widened } = context;
    if (widened === undefined || widened.size === 0) {
      for (const message of warnings) typing.onWarning?.(message);
      return { context, complaints, isLifted: inference.hasRecursiveLets };
    }
    for (const [expr, types] of widened) known.set(expr, types);
    diagnostics.forget(complaints);
  }
}

/** The type of a function whose parameters and result are all declared. */
function declaredSignature(fn: FunctionExpr): AppliedTerm | undefined {
  const params = fn.params.flatMap(({ type }): Type[] => (type === undefined ? [] : [type]));
  if (fn.resultType === undefined || params.length !== fn.params.length) return undefined;
  return functionTerm(params.map(termOf), termOf(fn.resultType), fn.typeParams);
}

function names(fn: FunctionExpr): string[] {
  return fn.params.map(({ name }) => name);
}

/**
 * Functions that have to be inferred together, after those that they use. A function whose
 * signature is declared is used by that, so it binds nothing together.
 */
function componentsOf(
  functions: ReadonlyMap<string, FunctionExpr>,
): (readonly (readonly [string, FunctionExpr])[])[] {
  const references = (name: string): string[] => {
    const fn = functions.get(name);
    return fn === undefined ? [] : globalsIn(fn, functions);
  };
  return stronglyConnected(functions.keys(), references).map((members) => {
    const chosen = new Set(members);
    return [...functions].filter(([name]) => chosen.has(name));
  });
}

function globalsIn(fn: Expr, functions: ReadonlyMap<string, FunctionExpr>): string[] {
  const found = new Set<string>();
  for (const expr of postOrder(fn)) {
    if (expr.kind !== 'global') continue;
    const target = functions.get(expr.name);
    if (target !== undefined && declaredSignature(target) === undefined) found.add(expr.name);
  }
  return [...found];
}

function withFunctions(module: Module, elaborated: ReadonlyMap<string, FunctionExpr>): Module {
  const functions = new Map(
    [...module.functions].map(([name, fn]) => [name, elaborated.get(name) ?? fn]),
  );
  const changed = [...module.functions].some(([name, fn]) => functions.get(name) !== fn);
  return changed ? { ...module, functions } : module;
}

const NO_SYMBOLS: ReadonlySet<string> = new Set();

/** Checks that data types refer to types that there are, and that constructors are unique. */
export function checkDefinitions(
  types: ReadonlyMap<string, TypeDefinition>,
  diagnostics: TypeDiagnostics,
): void {
  const owners = new Map<string, string>();
  for (const definition of types.values()) {
    const typeParams = new Set(definition.params);
    const tags = new Set<number>();
    for (const { name, fields, tag } of definition.constructors) {
      const where = `type ${definition.name}, constructor ${name}`;
      const owner = owners.get(name);
      if (owner !== undefined) {
        const got = `a constructor that type ${owner} has`;
        diagnostics.complain(undefined, { where, got, expected: 'another name' });
      }
      owners.set(name, definition.name);
      if (tag !== undefined && tags.has(tag)) {
        const got = `the tag ${tag} again`;
        diagnostics.complain(undefined, { where, got, expected: 'one of its own' });
      }
      if (tag !== undefined) tags.add(tag);
      for (const field of fields) {
        const fault = typeFault(field, { types, typeParams, symbols: NO_SYMBOLS });
        if (fault !== undefined) diagnostics.complain(undefined, { where, ...fault });
      }
    }
  }
}
