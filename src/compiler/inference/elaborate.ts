import {
  type CallExpr,
  type Expr,
  formatSpan,
  type FunctionExpr,
  type LetExpr,
  type MatchExpr,
  type Module,
  spanOf,
  type VarExpr,
} from '../ir/expr.ts';
import { withPlace } from '../ir/place.ts';
import { isError, type Term } from '../ir/term.ts';
import { formatType, type Type } from '../ir/type.ts';
import { bindersOf, childrenOf, postOrder, rewrite, withBinders } from '../ir/walk/visit.ts';
import { constructorsOf, isPolymorphic } from './declarations.ts';
import type { InferenceContext } from './inference-context.ts';

/** Stands for types that nothing depends on, such as that of the elements of an empty list. */
const UNIT: Type = { kind: 'tuple', fields: [] };

/** Functions with the types that were found written into them, by name; undefined where one is not found. */
export function elaborate(
  component: readonly (readonly [string, FunctionExpr])[],
  context: InferenceContext,
): ReadonlyMap<string, FunctionExpr> | undefined {
  const elaboration = new Elaboration(context);
  if (!elaboration.areKnown(component)) return undefined;
  const elaborated = new Map(component.map(([name, fn]) => [name, elaboration.function(fn)]));
  for (const fn of elaborated.values()) {
    for (const { at, name, type } of escapesOf(fn)) {
      context.complain(at, {
        got: `the type ${type}`,
        expected: `a type without ${name}, which only the polymorphic function inside knows`,
      });
    }
  }
  return elaborated;
}

class Elaboration {
  readonly #context: InferenceContext;
  readonly #variables = new Map<VarExpr, VarExpr>();
  /** Nodes as they are where they are called or bound by a let: still polymorphic. */
  readonly #polymorphic = new Map<Expr, Expr>();

  constructor(context: InferenceContext) {
    this.#context = context;
  }

  /**
   * Parameters and result of a global function have to be known; inside, anything will do. After a mistake,
   * it may be the reason.
   */
  areKnown(component: readonly (readonly [string, FunctionExpr])[]): boolean {
    const isFirst = this.#context.typing.diagnostics.isEmpty;
    let areKnown = true;
    const look = (fn: FunctionExpr, what: string, term: Term): void => {
      if (this.#isKnown(term, formatSpan(fn.span, what))) return;
      areKnown = false;
      if (isFirst) this.#complain(fn, what, term);
    };
    for (const [name, fn] of component) {
      for (const param of fn.params) {
        look(fn, `parameter %${param.name} of @${name}`, this.#context.termOf(param));
      }
      const result = this.#context.results.get(fn);
      if (result !== undefined) look(fn, `the result of @${name}`, result);
    }
    return areKnown;
  }

  function(fn: FunctionExpr): FunctionExpr {
    const result = rewrite(fn, (expr, original) => this.#write(expr, original));
    if (result.kind !== 'function') throw new Error('internal: a function became something else');
    return result;
  }

  #write(expr: Expr, original: Expr): Expr {
    const written = this.#annotate(expr, original);
    const instance = this.#context.expansions.get(original);
    if (instance === undefined) return written;
    this.#polymorphic.set(original, written);
    return this.#expand(written, instance);
  }

  #annotate(expr: Expr, original: Expr): Expr {
    switch (expr.kind) {
      case 'var':
        return this.#variable(expr);
      case 'function':
        return this.#function(expr, original);
      case 'call':
        return this.#call(expr, original);
      case 'let':
        return this.#let(expr, original);
      case 'match':
        return this.#match(expr);
      case 'constant':
      case 'int':
      case 'operator':
      case 'constructor':
      case 'global':
      case 'tuple':
      case 'projection':
      case 'if':
        return expr;
      default:
        return expr satisfies never;
    }
  }

  /** Variables that nothing reads are annotated too, where they are bound. */
  #variable(variable: VarExpr): VarExpr {
    const known = this.#variables.get(variable);
    if (known !== undefined) return known;
    const typed =
      variable.type === undefined
        ? { ...variable, type: this.#typeOf(this.#context.termOf(variable), placeOf(variable)) }
        : variable;
    this.#variables.set(variable, typed).set(typed, typed);
    return typed;
  }

  #function(fn: FunctionExpr, original: Expr): FunctionExpr {
    const params = fn.params.map((param) => this.#variable(param));
    const isSame = params.every((param, i) => param === fn.params[i]);
    if (isSame && fn.resultType !== undefined) return fn;
    const result = original.kind === 'function' ? this.#context.results.get(original) : undefined;
    const resultType = fn.resultType ?? (result && this.#typeOf(result));
    return { ...fn, params, resultType };
  }

  #call(expr: CallExpr, original: Expr): CallExpr {
    if (original.kind !== 'call') return expr;
    const callee = this.#polymorphic.get(original.callee) ?? expr.callee;
    const found = this.#context.typeArguments.get(original);
    const isComplete = found === undefined || expr.typeArguments !== undefined;
    if (isComplete) return callee === expr.callee ? expr : { ...expr, callee };
    return { ...expr, callee, typeArguments: found.map((term) => this.#typeOf(term)) };
  }

  #let(expr: LetExpr, original: Expr): LetExpr {
    const variable = this.#variable(expr.variable);
    const declared = original.kind === 'let' ? original.variable.type : undefined;
    const isWhole = original.kind === 'let' && (declared === undefined || isPolymorphic(declared));
    const value = (isWhole ? this.#polymorphic.get(original.value) : undefined) ?? expr.value;
    const isSame = variable === expr.variable && value === expr.value;
    return isSame ? expr : { ...expr, variable, value };
  }

  #match(expr: MatchExpr): MatchExpr {
    const clauses = expr.clauses.map((clause) => {
      const pattern = withBinders(clause.pattern, (variable) => this.#variable(variable));
      return pattern === clause.pattern ? clause : { ...clause, pattern };
    });
    return clauses.every((clause, i) => clause === expr.clauses[i]) ? expr : { ...expr, clauses };
  }

  /** `fn (%a: A) { callee<A>(%a) }`: calls alone carry type arguments. */
  #expand(
    callee: Expr,
    { term, typeArguments }: { readonly term: Term; readonly typeArguments: readonly Term[] },
  ): Expr {
    const type = this.#typeOf(term);
    if (type.kind !== 'function') throw new Error('internal: a function has another type');
    const params = type.params.map(
      (param, i): VarExpr => ({
        kind: 'var',
        name: `a${i}`,
        type: param,
      }),
    );
    const body: CallExpr = {
      kind: 'call',
      callee,
      args: params,
      attributes: {},
      typeArguments: typeArguments.map((argument) => this.#typeOf(argument)),
    };
    const span = spanOf(callee);
    const placed = withPlace(body, span);
    const fn = { kind: 'function', params, resultType: type.result, body: placed } as const;
    return { ...fn, attributes: {}, ...(span && { span }) };
  }

  #typeOf(term: Term, where?: string): Type {
    return this.#context.unifier.typeOf(term, () => UNIT, where);
  }

  #isKnown(term: Term, where: string): boolean {
    let known = true;
    const unknown = (): Type => {
      known = false;
      return UNIT;
    };
    this.#context.unifier.typeOf(term, unknown, where);
    return known || isError(term);
  }

  #complain(at: Expr, what: string, term: Term): void {
    this.#context.complain(at, {
      got: `${what} as ${this.#context.format(term)}`,
      expected: 'a type that can be inferred',
      remedy: 'Annotate it.',
    });
  }
}

function placeOf({ name, span }: VarExpr): string {
  return formatSpan(span, `%${name}`);
}

/**
 * Returns true if the type of each node follows from the node, as inference leaves a module and
 * passes keep it.
 */
export function isElaborated(module: Module): boolean {
  const constructors = constructorsOf(module.types);
  const isPolymorphicCallee = (callee: Expr): boolean => {
    if (callee.kind === 'constructor') {
      return (constructors.get(callee.name)?.definition.params.length ?? 0) > 0;
    }
    const fn = callee.kind === 'global' ? module.functions.get(callee.name) : callee;
    return fn?.kind === 'function' && (fn.typeParams?.length ?? 0) > 0;
  };
  const isWritten = (expr: Expr): boolean => {
    if (!bindersOf(expr).every(({ type }) => type !== undefined)) return false;
    if (expr.kind === 'global') return module.functions.get(expr.name)?.resultType !== undefined;
    if (expr.kind !== 'call' || expr.typeArguments !== undefined) return true;
    return !isPolymorphicCallee(expr.callee);
  };
  return [...module.functions.values()].every((fn) => postOrder(fn).every(isWritten));
}

interface Escape {
  readonly at: Expr;
  /** The type parameter, outside of the function that binds it. */
  readonly name: string;
  readonly type: string;
}

/**
 * The first types that mention a parameter of a polymorphic function inside, where it has no meaning: the
 * function was used to find out the type of something around it. For a function after inference.
 */
function escapesOf(fn: FunctionExpr): Escape[] {
  const escapes: Escape[] = [];
  const isNested = (expr: Expr): boolean =>
    expr !== fn && expr.kind === 'function' && (expr.typeParams?.length ?? 0) > 0;
  if (!postOrder(fn).some(isNested)) return escapes;
  const seen = new Set<Expr>();
  const stack: { expr: Expr; scope: ReadonlySet<string> }[] = [{ expr: fn, scope: new Set() }];
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    const { expr, scope } = top;
    if (seen.has(expr)) continue;
    seen.add(expr);
    const inner =
      expr.kind === 'function' ? new Set([...scope, ...(expr.typeParams ?? [])]) : scope;
    for (const type of typesIn(expr)) {
      const name = freeTypeVar(type, inner);
      if (name === undefined || escapes.some((escape) => escape.name === name)) continue;
      escapes.push({ at: expr, name, type: formatType(type) });
    }
    for (const child of childrenOf(expr)) stack.push({ expr: child, scope: inner });
  }
  return escapes;
}

function typesIn(expr: Expr): readonly Type[] {
  const types = bindersOf(expr).flatMap(({ type }) => (type === undefined ? [] : [type]));
  if (expr.kind === 'call') types.push(...(expr.typeArguments ?? []));
  if (expr.kind === 'function' && expr.resultType !== undefined) types.push(expr.resultType);
  return types;
}

function freeTypeVar(type: Type, scope: ReadonlySet<string>): string | undefined {
  const first = (types: readonly Type[], inner: ReadonlySet<string>): string | undefined => {
    for (const part of types) {
      const name = freeTypeVar(part, inner);
      if (name !== undefined) return name;
    }
    return undefined;
  };
  switch (type.kind) {
    case 'tensor':
    case 'scalar':
      return undefined;
    case 'type-var':
      return scope.has(type.name) ? undefined : type.name;
    case 'tuple':
      return first(type.fields, scope);
    case 'adt':
      return first(type.args, scope);
    case 'function':
      return first([...type.params, type.result], new Set([...scope, ...(type.typeParams ?? [])]));
    default:
      return type satisfies never;
  }
}
