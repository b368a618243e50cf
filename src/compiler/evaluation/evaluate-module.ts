import { requireKind } from '../../core/check-options.ts';
import { requireModule } from '../ir/require-module.ts';
import { type Dim, evaluateDim, formatDim } from '../../core/dims/dim.ts';
import { RuntimeError } from '../../core/errors.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { Attributes, AttributeValue } from '../../core/contracts/primitive-function.ts';
import { CORE_OPERATORS } from '../../ops/tables/core-operators.ts';
import type { Operators } from '../../ops/operators.ts';
import { evaluateCall } from '../values/evaluate-call.ts';
import type { CallExpr, Expr, FunctionExpr, MatchExpr, Module, Pattern } from '../ir/expr.ts';
import { SCALAR_OPERATORS } from '../ir/operators/scalar-operators.ts';
import { computeScopes, type Scope, type Scopes } from '../ir/walk/scopes.ts';
import type { Type } from '../ir/type.ts';
import {
  evaluateScalarOperator,
  isTrue,
  type ReferenceFunctions,
} from './evaluate-scalar-operator.ts';
import {
  asTensor,
  beyondReference,
  isStructured,
  type ReferenceFunction,
  type ReferenceValue,
} from './reference-value.ts';

export type { ReferenceFunction, ReferenceValue };

/** The things that a program refers to and that are not in its module. */
export interface EvaluationOptions {
  /** The operators that it calls. Default: the core operators. */
  readonly operators?: Operators | undefined;
  /** Stand-ins for the functions of JavaScript that it calls, by name. Default: none. */
  readonly functions?: ReferenceFunctions | undefined;
}

interface Environment {
  readonly module: Module;
  readonly operators: Operators;
  readonly functions: ReferenceFunctions;
}

/**
 * Calls a global function as the language says, with the host references of operators: everything
 * in a scope is computed once when control comes there. This defines what a compiled module does;
 * it is slow and recursive. It takes a module as it is written, or after any pass up to `lambda-lift`.
 *
 * Throws RuntimeError for a `match` that no clause fits, for integers that do not exist, and for what has no
 * host reference.
 */
export function evaluateModule(
  module: Module,
  name: string,
  args: readonly ReferenceValue[],
  { operators = CORE_OPERATORS, functions = {} }: EvaluationOptions = {},
): ReferenceValue {
  requireModule('evaluateModule', module);
  const called = globalFunction({ module, operators, functions }, name);
  const count = module.functions.get(name)?.params.length;
  const isWhole = Array.isArray(args) && args.length === count;
  requireKind(
    'evaluateModule',
    [`a list of ${count}`, () => isWhole],
    ['arguments that are', args],
  );
  return called.apply(args);
}

function globalFunction(environment: Environment, name: string): ReferenceFunction {
  const fn = environment.module.functions.get(name);
  if (fn === undefined) throw new RuntimeError(`there is no function @${name}`);
  return {
    kind: 'function',
    apply: (args) => new FunctionEvaluator(environment, fn).run(args),
  };
}

/** The values of one scope, inside those of the scopes around it. */
interface Frame {
  readonly scope: Scope;
  readonly values: Map<Expr, ReferenceValue>;
  readonly parent: Frame | undefined;
}

class FunctionEvaluator {
  readonly #environment: Environment;
  readonly #fn: FunctionExpr;
  readonly #scopes: Scopes;
  readonly #inScope = new Map<Scope, Expr[]>();
  readonly #letValues = new Map<Expr, Expr>();
  /** Variables by the expression whose value they have. */
  readonly #variables = new Map<Expr, Expr[]>();
  /** Sizes that arguments and values give to symbols. */
  readonly #symbols = new Map<string, number>();

  constructor(environment: Environment, fn: FunctionExpr) {
    this.#environment = environment;
    this.#fn = fn;
    this.#scopes = computeScopes(fn);
    for (const expr of this.#scopes.order) {
      if (expr.kind === 'let') this.#letValues.set(expr.variable, expr.value);
      const scope = this.#scopes.of(expr);
      const members = this.#inScope.get(scope);
      if (members === undefined) this.#inScope.set(scope, [expr]);
      else members.push(expr);
    }
    for (const variable of this.#letValues.keys()) {
      const value = this.#named(variable);
      this.#variables.set(value, [...(this.#variables.get(value) ?? []), variable]);
    }
  }

  run(args: readonly ReferenceValue[]): ReferenceValue {
    this.#nameSizes(this.#fn, args);
    return this.#enter(this.#scopes.top, undefined, bind(this.#fn, args));
  }

  #nameSizes(fn: FunctionExpr, args: readonly ReferenceValue[]): void {
    for (const [i, { type }] of fn.params.entries()) this.#nameDims(type, args[i]);
  }

  /** The names of dimensions in a type stand for those of a value that has it. */
  #nameDims(type: Type | undefined, value: ReferenceValue | undefined): void {
    if (type?.kind !== 'tensor' || !(value instanceof HostTensor)) return;
    for (const [axis, dim] of type.shape.entries()) {
      if (typeof dim === 'string') this.#symbols.set(dim, value.shape[axis] ?? -1);
    }
  }

  #enter(
    scope: Scope | undefined,
    parent: Frame | undefined,
    values: Map<Expr, ReferenceValue>,
  ): ReferenceValue {
    if (scope === undefined) throw new Error('internal: an expression opens no scope');
    const frame: Frame = { scope, values, parent };
    for (const expr of this.#inScope.get(scope) ?? []) {
      if (expr.kind === 'var' || expr.kind === 'let') continue;
      const value = this.#compute(expr, frame);
      values.set(expr, value);
      for (const variable of this.#variables.get(expr) ?? []) {
        if (variable.kind === 'var') this.#nameDims(variable.type, value);
      }
    }
    return this.#value(scope.root, frame);
  }

  /** The expression that computes what a variable or a `let` stands for. */
  #named(expr: Expr): Expr {
    let named = expr;
    for (;;) {
      const next = named.kind === 'let' ? named.body : this.#letValues.get(named);
      if (next === undefined) return named;
      named = next;
    }
  }

  #value(expr: Expr, frame: Frame): ReferenceValue {
    const named = this.#named(expr);
    for (let at: Frame | undefined = frame; at !== undefined; at = at.parent) {
      const value = at.values.get(named);
      if (value !== undefined) return value;
    }
    throw new Error(`internal: a ${named.kind} is used before it is computed`);
  }

  #compute(expr: Expr, frame: Frame): ReferenceValue {
    const value = (child: Expr): ReferenceValue => this.#value(child, frame);
    switch (expr.kind) {
      case 'constant':
        return expr.value;
      case 'int':
        return expr.value;
      case 'global':
        return globalFunction(this.#environment, expr.name);
      case 'constructor':
        return {
          kind: 'function',
          apply: (fields) => ({ kind: 'data', name: expr.name, fields }),
        };
      case 'function': {
        const [body] = this.#scopes.inside(expr);
        const apply = (args: readonly ReferenceValue[]): ReferenceValue => {
          this.#nameSizes(expr, args);
          return this.#enter(body, frame, bind(expr, args));
        };
        return { kind: 'function', apply };
      }
      case 'tuple':
        return { kind: 'tuple', fields: expr.fields.map(value) };
      case 'projection':
        return fieldOf(value(expr.tuple), expr.index);
      case 'call':
        return this.#call(expr, expr.args.map(value), frame);
      case 'if': {
        const [thenBranch, elseBranch] = this.#scopes.inside(expr);
        return this.#enter(
          isTrue(value(expr.condition)) ? thenBranch : elseBranch,
          frame,
          new Map(),
        );
      }
      case 'match':
        return this.#match(expr, value(expr.value), frame);
      case 'operator':
      case 'var':
      case 'let':
        throw new Error(`internal: a ${expr.kind} is not computed`);
      default:
        return expr satisfies never;
    }
  }

  #call({ callee, attributes }: CallExpr, args: ReferenceValue[], frame: Frame): ReferenceValue {
    if (callee.kind === 'operator') {
      const { operators, functions } = this.#environment;
      const scalar = SCALAR_OPERATORS.get(callee.name);
      if (scalar !== undefined)
        return evaluateScalarOperator(scalar, args, { attributes, functions });
      return evaluateCall(
        operators.require(callee.name),
        args.map(asTensor),
        this.#bound(attributes),
      );
    }
    const fn = this.#value(callee, frame);
    if (isStructured(fn) && fn.kind === 'function') return fn.apply(args);
    throw beyondReference('a call of what is no function');
  }

  /** Attributes with the sizes of symbols in lists of dimensions. */
  #bound(attributes: Attributes): Attributes {
    const bound: Record<string, AttributeValue> = {};
    for (const [name, value] of Object.entries(attributes)) {
      bound[name] = Array.isArray(value) ? value.map((dim: Dim) => this.#size(dim)) : value;
    }
    return bound;
  }

  #size(dim: Dim): number {
    const size = evaluateDim(dim, this.#symbols);
    if (size === undefined)
      throw beyondReference(`the size ${formatDim(dim)}, which nothing tells`);
    return size;
  }

  #match(expr: MatchExpr, matched: ReferenceValue, frame: Frame): ReferenceValue {
    for (const [i, { pattern }] of expr.clauses.entries()) {
      const bound = new Map<Expr, ReferenceValue>();
      if (fits(pattern, matched, bound)) {
        return this.#enter(this.#scopes.inside(expr)[i], frame, bound);
      }
    }
    throw new RuntimeError('no clause fits');
  }
}

function bind(fn: FunctionExpr, args: readonly ReferenceValue[]): Map<Expr, ReferenceValue> {
  const values = new Map<Expr, ReferenceValue>();
  for (const [i, param] of fn.params.entries()) {
    const arg = args[i];
    if (arg !== undefined) values.set(param, arg);
  }
  return values;
}

function fieldOf(value: ReferenceValue, index: number): ReferenceValue {
  const field = isStructured(value) && value.kind !== 'function' ? value.fields[index] : undefined;
  if (field === undefined) throw new Error(`internal: no field ${index}`);
  return field;
}

function fits(pattern: Pattern, value: ReferenceValue, bound: Map<Expr, ReferenceValue>): boolean {
  if (pattern.kind === 'wildcard') return true;
  if (pattern.kind === 'var-pattern') {
    bound.set(pattern.variable, value);
    return true;
  }
  if (pattern.kind === 'int-pattern' || pattern.kind === 'float-pattern') {
    return value === pattern.value;
  }
  if (pattern.kind === 'constructor-pattern') {
    const isOther = !isStructured(value) || value.kind !== 'data';
    if (isOther || value.name !== pattern.constructor) return false;
  }
  return pattern.fields.every((field, i) => fits(field, fieldOf(value, i), bound));
}
