import { checkOptions } from '../../core/check-options.ts';
import { CORE_OPERATORS } from '../../ops/tables/core-operators.ts';
import type { Operators } from '../../ops/operators.ts';
import { checkDefinitions, inferModule } from '../inference/infer-module.ts';
import {
  constructorsOf,
  type DeclaredConstructor,
  isPolymorphic,
  typeFault,
} from '../inference/declarations.ts';
import { type SourceTexts, TEXTS, TypeDiagnostics } from '../inference/checks/type-diagnostics.ts';
import { checkNesting } from '../ir/text/check-nesting.ts';
import {
  type Module,
  type CallExpr,
  type Expr,
  type FloatPattern,
  formatSpan,
  type FunctionExpr,
  type IntPattern,
  type MatchExpr,
  type Pattern,
  ON_DEVICE,
  spanOf,
  type VarExpr,
} from '../ir/expr.ts';
import { TypeCheckError, WeftError } from '../../core/errors.ts';
import { completeAttributes } from '../../ops/attributes.ts';
import type { InputSpec } from '../../ops/define-op.ts';
import type { ScalarOperator } from '../ir/operators/scalar-operator.ts';
import { SCALAR_OPERATORS } from '../ir/operators/scalar-operators.ts';
import { recursiveLets } from '../ir/walk/recursive-lets.ts';
import { computeScopes, holds, type Scope, type Scopes } from '../ir/walk/scopes.ts';
import type { Type } from '../ir/type.ts';
import { bindersOf, variablesOf } from '../ir/walk/visit.ts';
import { verifyKills } from './verify-kills.ts';

interface VerifyContext {
  readonly module: Module;
  readonly constructors: ReadonlyMap<string, DeclaredConstructor>;
  readonly diagnostics: TypeDiagnostics;
  readonly operators: Operators;
}

/** Checks all of a global function but its types; complains to the diagnostics. */
class FunctionVerifier {
  readonly #module: Module;
  readonly #constructors: ReadonlyMap<string, DeclaredConstructor>;
  readonly #diagnostics: TypeDiagnostics;
  readonly #operators: Operators;
  readonly #name: string;
  readonly #fn: FunctionExpr;
  readonly #scopes: Scopes;
  readonly #recursive: ReadonlySet<Expr>;
  readonly #visible = new Map<VarExpr, Scope>();
  /** Type parameters by the scope of the function that has them. */
  readonly #typeParams = new Map<Scope, ReadonlySet<string>>();

  constructor(context: VerifyContext, name: string, fn: FunctionExpr) {
    const { module, constructors, diagnostics, operators } = context;
    this.#operators = operators;
    this.#module = module;
    this.#constructors = constructors;
    this.#diagnostics = diagnostics;
    this.#name = name;
    this.#fn = fn;
    this.#scopes = computeScopes(fn, { lets: true });
    this.#recursive = new Set(recursiveLets(fn.body));
  }

  verify(): void {
    const { top, order } = this.#scopes;
    this.#bind(this.#fn, this.#fn.params, top);
    this.#declareTypes(this.#fn, top);
    // From the outside in, so that the type parameters around an expression are known.
    for (const expr of order.toReversed()) {
      this.#bindAll(expr);
      this.#verifyNode(expr);
    }
    for (const expr of order) if (expr.kind === 'var') this.#verifyUse(expr);
    for (const expr of order) {
      if (expr.kind === 'function' && expr.attributes.primitive !== undefined) {
        this.#verifyPrimitive(expr);
      }
    }
    verifyKills(this.#fn, (variable) => {
      this.#complain(variable, `%${variable.name} after its kill`, 'a live variable');
    });
  }

  #complain(expr: Expr, got: string, expected: string): void {
    const span = spanOf(expr);
    const where = formatSpan(span, `function @${this.#name}`);
    this.#diagnostics.complain(span, { where, got, expected });
  }

  #bindAll(expr: Expr): void {
    const inside = this.#scopes.inside(expr);
    // The function is visible in itself too.
    if (expr.kind === 'let' && this.#recursive.has(expr)) {
      this.#bind(expr, [expr.variable], this.#scopes.of(expr));
      return;
    }
    if (expr.kind === 'match') {
      for (const [i, clause] of expr.clauses.entries()) {
        this.#bind(expr, variablesOf(clause.pattern), inside[i]);
      }
      return;
    }
    this.#bind(expr, bindersOf(expr), inside[0]);
    if (expr.kind === 'function') this.#declareTypes(expr, inside[0]);
  }

  #bind(expr: Expr, variables: readonly VarExpr[], scope: Scope | undefined): void {
    if (scope === undefined) return;
    for (const variable of variables) {
      if (this.#visible.has(variable)) {
        this.#complain(expr, `%${variable.name}, which is bound already`, 'another variable');
      }
      this.#visible.set(variable, scope);
    }
  }

  #declareTypes(fn: FunctionExpr, scope: Scope | undefined): void {
    if (scope === undefined) return;
    const { typeParams = [] } = fn;
    const outer = this.#typeParamsAt(scope.parent);
    const params = typeParams.length === 0 ? outer : new Set([...outer, ...typeParams]);
    if (new Set(typeParams).size < typeParams.length) {
      this.#complain(fn, `type parameters ${typeParams.join(', ')}`, 'different names');
    }
    this.#typeParams.set(scope, params);
    for (const { type } of fn.params) this.#verifyType(fn, type, scope);
    this.#verifyType(fn, fn.resultType, scope);
  }

  #typeParamsAt(scope: Scope | undefined): ReadonlySet<string> {
    const passed: Scope[] = [];
    let found: ReadonlySet<string> = NO_NAMES;
    for (let at = scope; at !== undefined; at = at.parent) {
      const params = this.#typeParams.get(at);
      if (params !== undefined) {
        found = params;
        break;
      }
      passed.push(at);
    }
    // Each scope is asked once only, however deep it lies.
    for (const at of passed) this.#typeParams.set(at, found);
    return found;
  }

  #verifyType(expr: Expr, type: Type | undefined, scope: Scope): void {
    if (type === undefined) return;
    const { types } = this.#module;
    const fault = typeFault(type, { types, typeParams: this.#typeParamsAt(scope) });
    if (fault !== undefined) this.#complain(expr, fault.got, fault.expected);
  }

  #verifyNode(expr: Expr): void {
    const scope = this.#scopes.of(expr);
    switch (expr.kind) {
      case 'call':
        this.#verifyCall(expr);
        return;
      case 'operator':
        this.#complain(expr, `the operator ${expr.name} as a value`, 'a call of it');
        return;
      case 'global':
        if (!this.#module.functions.has(expr.name)) {
          this.#complain(expr, `@${expr.name}`, 'a function that the module defines');
        }
        return;
      case 'constructor':
        this.#arity(expr, expr.name);
        return;
      case 'int':
        if (!Number.isSafeInteger(expr.value)) {
          this.#complain(expr, String(expr.value), 'an integer of at most 53 bits');
        }
        return;
      case 'let':
        // A polymorphic function is verified where it is the value.
        if (expr.variable.type === undefined || isPolymorphic(expr.variable.type)) return;
        this.#verifyType(expr, expr.variable.type, scope);
        return;
      case 'match':
        this.#verifyMatch(expr, scope);
        return;
      case 'projection':
        if (!Number.isSafeInteger(expr.index) || expr.index < 0) {
          this.#complain(expr, `field ${expr.index}`, 'the index of a field');
        }
        return;
      case 'var':
      case 'constant':
      case 'function':
      case 'tuple':
      case 'if':
        return;
      default:
        expr satisfies never;
    }
  }

  /** The number of fields of a constructor; complains where there is none of the name. */
  #arity(expr: Expr, name: string): number | undefined {
    const declared = this.#constructors.get(name);
    if (declared === undefined) {
      this.#complain(expr, `the constructor ${name}`, 'one that a type of the module has');
    }
    return declared?.constructor.fields.length;
  }

  #verifyCall(expr: CallExpr): void {
    const { callee, args, attributes, typeArguments = [], onDevice } = expr;
    for (const type of typeArguments) this.#verifyType(expr, type, this.#scopes.of(expr));
    const isKernel = callee.kind === 'operator' && !SCALAR_OPERATORS.has(callee.name);
    if (onDevice !== undefined && !isKernel) {
      const got = `${ON_DEVICE} for ${callee.kind === 'operator' ? callee.name : `a ${callee.kind}`}`;
      this.#complain(expr, got, 'it only for operators on tensors');
    }
    if (callee.kind === 'operator') {
      this.#verifyOperator(expr, callee.name);
      return;
    }
    if (Object.keys(attributes).length > 0) {
      this.#complain(expr, `attributes for a ${callee.kind}`, 'attributes only for operators');
    }
    const expected = this.#parameterCount(callee);
    if (expected !== undefined && expected !== args.length) {
      this.#complain(expr, `${args.length} arguments`, String(expected));
    }
  }

  /** How many arguments a callee takes, where that can be seen without types. */
  #parameterCount(callee: Expr): number | undefined {
    if (callee.kind === 'function') return callee.params.length;
    if (callee.kind === 'global') return this.#module.functions.get(callee.name)?.params.length;
    if (callee.kind !== 'constructor') return undefined;
    return this.#constructors.get(callee.name)?.constructor.fields.length;
  }

  #verifyOperator(expr: CallExpr, name: string): void {
    const scalar = SCALAR_OPERATORS.get(name);
    const op = this.#operators.get(name);
    if (scalar === undefined && op === undefined) {
      this.#complain(expr, `operator ${name}`, 'an operator that Weft has');
      return;
    }
    try {
      completeAttributes({ name, attributes: (op ?? scalar)?.attributes ?? {} }, expr.attributes);
    } catch (thrown) {
      if (!(thrown instanceof WeftError)) throw thrown;
      const message = `${formatSpan(spanOf(expr), `function @${this.#name}`)}: ${thrown.message}`;
      this.#diagnostics.add(spanOf(expr), new TypeCheckError(message, { cause: thrown }));
    }
    const [least, most] = op === undefined ? scalarInputRange(scalar) : inputRange(op.inputs);
    if (expr.args.length >= least && expr.args.length <= most) return;
    const range = least === most ? String(least) : `${least} to ${most}`;
    this.#complain(expr, `${expr.args.length} operands of ${name}`, range);
  }

  #verifyMatch(expr: MatchExpr, scope: Scope): void {
    if (expr.clauses.length === 0) this.#complain(expr, 'no clauses', 'at least one');
    for (const { pattern } of expr.clauses) {
      const stack: Pattern[] = [pattern];
      for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
        if (top.kind === 'wildcard') continue;
        if (top.kind === 'int-pattern' || top.kind === 'float-pattern') {
          this.#verifyNumber(expr, top);
          continue;
        }
        if (top.kind === 'var-pattern') {
          this.#verifyType(expr, top.variable.type, scope);
          continue;
        }
        stack.push(...top.fields);
        if (top.kind === 'tuple-pattern') continue;
        const arity = this.#arity(expr, top.constructor);
        if (arity === undefined || arity === top.fields.length) continue;
        const got = `a pattern of ${top.constructor} with ${top.fields.length} fields`;
        this.#complain(expr, got, String(arity));
      }
    }
  }

  #verifyNumber(expr: MatchExpr, { kind, value }: IntPattern | FloatPattern): void {
    const isInt = kind === 'int-pattern';
    if (isInt ? Number.isSafeInteger(value) : !Number.isNaN(value)) return;
    const expected = isInt ? 'an integer of at most 53 bits' : 'a number: NaN equals nothing';
    this.#complain(expr, `a pattern of ${value}`, expected);
  }

  #verifyUse(variable: VarExpr): void {
    const visible = this.#visible.get(variable);
    if (visible === undefined) {
      this.#complain(variable, `%${variable.name}, which nothing binds`, 'a bound variable');
    } else if (!holds(visible, this.#scopes.of(variable))) {
      const got = `%${variable.name} outside the expression that binds it`;
      this.#complain(variable, got, 'variables only where they are visible');
    }
  }

  /** A primitive function becomes a kernel, which has nothing but its arguments. */
  #verifyPrimitive(fn: FunctionExpr): void {
    const { order } = computeScopes(fn);
    const bound = new Set<Expr>(fn.params);
    for (const expr of order) {
      if (expr.kind === 'var' && !bound.has(expr)) {
        const got = `%${expr.name} in the primitive function ${fn.attributes.primitive}`;
        this.#complain(fn, got, 'only its parameters');
      }
    }
  }
}

const NO_NAMES: ReadonlySet<string> = new Set();

function scalarInputRange(op: ScalarOperator | undefined): [number, number] {
  const count = op?.inputs.length ?? 0;
  return [count, op?.rest === undefined ? count : Infinity];
}

/** The least and the greatest number of inputs of an operator. */
function inputRange(inputs: readonly InputSpec[]): [number, number] {
  const required = inputs.filter(({ optional, variadic }) => !optional && !variadic).length;
  return [required, inputs.at(-1)?.variadic === true ? Infinity : inputs.length];
}

interface VerifyOptions {
  /** Infers types too, once all else is right. Default: true. */
  readonly types?: boolean;
  /** Texts by the name in spans, for excerpts in messages. */
  readonly texts?: SourceTexts;
  /** The operators that may be called. Default: the core operators. */
  readonly operators?: Operators | undefined;
  /**
   * Accepts branches that differ in dimensions, as they do after passes that have found out more
   * about one of them. Default: only where `?` is declared.
   */
  readonly widensBranches?: boolean | undefined;
}

/**
 * Checks what every pass relies on: each variable is bound once and used where it is visible;
 * operators, global functions, constructors and types exist; calls and patterns have the right
 * number of operands, operators the attributes of their schema; nothing is used behind a `kill` of it;
 * the module is well-typed. It does
 * not check that dimensions which only the running program knows agree.
 *
 * Throws a TypeCheckError with everything that is wrong (the first 20 places); if that is nothing
 * but the operands of one operator, the operator's ShapeError.
 */
export function verifyModule(module: Module, options: VerifyOptions = {}): void {
  checkOptions<VerifyOptions>('verifyModule', options, {
    types: 'boolean',
    texts: TEXTS,
    operators: 'operators',
    widensBranches: 'boolean',
  });
  const { types = true, texts, operators = CORE_OPERATORS, widensBranches } = options;
  checkNesting(module, 'verifyModule');
  const diagnostics = new TypeDiagnostics(texts);
  checkDefinitions(module.types, diagnostics);
  for (const [name, definition] of module.types) {
    if (definition.name === name) continue;
    const got = `a type ${definition.name}`;
    diagnostics.complain(undefined, { where: `type ${name}`, got, expected: 'the same name' });
  }
  const constructors = constructorsOf(module.types);
  for (const [name, fn] of module.functions) {
    new FunctionVerifier({ module, constructors, diagnostics, operators }, name, fn).verify();
  }
  if (types && diagnostics.isEmpty) inferModule(module, { texts, operators, widensBranches });
  diagnostics.throwIfAny();
}
