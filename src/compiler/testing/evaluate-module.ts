import type { BuiltinName } from '../../bytecode/builtins.ts';
import { intBuiltins } from '../../bytecode/int-builtins.ts';
import { truthOf } from '../../bytecode/truth-of.ts';
import { HostTensor } from '../../core/host-tensor.ts';
import { type Dim, evaluateDim } from '../../core/dim.ts';
import { RuntimeError } from '../../core/errors.ts';
import type { Attributes, AttributeValue } from '../../core/primitive-function.ts';
import { stringAttribute } from '../../ops/attributes.ts';
import { CORE_OPERATORS } from '../../ops/core-operators.ts';
import { evaluateCall } from '../values/evaluate-call.ts';
import type { CallExpr, Expr, FunctionExpr, MatchExpr, Module, Pattern } from '../ir/expr.ts';
import type { ScalarOperator } from '../ir/scalar-operator.ts';
import { AS_ANY, DEVICE_COPY, SCALAR_OPERATORS, STOP } from '../ir/scalar-operators.ts';
import { computeScopes, type Scope, type Scopes } from '../ir/scopes.ts';

/** A value of the reference evaluator. */
export type ReferenceValue =
  | HostTensor
  | number
  | { readonly kind: 'tuple'; readonly fields: readonly ReferenceValue[] }
  | { readonly kind: 'data'; readonly name: string; readonly fields: readonly ReferenceValue[] }
  | ReferenceFunction;

export interface ReferenceFunction {
  readonly kind: 'function';
  readonly apply: (args: readonly ReferenceValue[]) => ReferenceValue;
}

/**
 * Calls a global function as the language says, with the host references of operators: everything
 * in a scope is computed once when control comes there. This defines what a compiled module does;
 * it is slow, recursive, and for tests.
 *
 * Throws RuntimeError for a `match` that no clause fits and for integers that do not exist.
 */
export function evaluateModule(
  module: Module,
  name: string,
  args: readonly ReferenceValue[],
): ReferenceValue {
  return globalFunction(module, name).apply(args);
}

function globalFunction(module: Module, name: string): ReferenceFunction {
  const fn = module.functions.get(name);
  if (fn === undefined) throw new RuntimeError(`there is no function @${name}`);
  return {
    kind: 'function',
    apply: (args) => new FunctionEvaluator(module, fn).run(args),
  };
}

/** The values of one scope, inside those of the scopes around it. */
interface Frame {
  readonly scope: Scope;
  readonly values: Map<Expr, ReferenceValue>;
  readonly parent: Frame | undefined;
}

class FunctionEvaluator {
  readonly #module: Module;
  readonly #fn: FunctionExpr;
  readonly #scopes: Scopes;
  readonly #inScope = new Map<Scope, Expr[]>();
  /** Values of lets by the variable. */
  readonly #letValues = new Map<Expr, Expr>();
  /** Sizes that the arguments give to symbols. */
  readonly #symbols = new Map<string, number>();

  constructor(module: Module, fn: FunctionExpr) {
    this.#module = module;
    this.#fn = fn;
    this.#scopes = computeScopes(fn);
    for (const expr of this.#scopes.order) {
      if (expr.kind === 'let') this.#letValues.set(expr.variable, expr.value);
      const scope = this.#scopes.of(expr);
      const members = this.#inScope.get(scope);
      if (members === undefined) this.#inScope.set(scope, [expr]);
      else members.push(expr);
    }
  }

  run(args: readonly ReferenceValue[]): ReferenceValue {
    for (const [i, { type }] of this.#fn.params.entries()) {
      const arg = args[i];
      if (type?.kind !== 'tensor' || !(arg instanceof HostTensor)) continue;
      for (const [axis, dim] of type.shape.entries()) {
        if (typeof dim === 'string') this.#symbols.set(dim, arg.shape[axis] ?? -1);
      }
    }
    return this.#enter(this.#scopes.top, undefined, bind(this.#fn, args));
  }

  #enter(
    scope: Scope | undefined,
    parent: Frame | undefined,
    values: Map<Expr, ReferenceValue>,
  ): ReferenceValue {
    if (scope === undefined) throw new Error('internal: an expression opens no scope');
    const frame: Frame = { scope, values, parent };
    for (const expr of this.#inScope.get(scope) ?? []) {
      if (expr.kind !== 'var' && expr.kind !== 'let') values.set(expr, this.#compute(expr, frame));
    }
    return this.#value(scope.root, frame);
  }

  #value(expr: Expr, frame: Frame): ReferenceValue {
    let named = expr;
    for (;;) {
      const next = named.kind === 'let' ? named.body : this.#letValues.get(named);
      if (next === undefined) break;
      named = next;
    }
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
        return globalFunction(this.#module, expr.name);
      case 'constructor':
        return {
          kind: 'function',
          apply: (fields) => ({ kind: 'data', name: expr.name, fields }),
        };
      case 'function': {
        const [body] = this.#scopes.inside(expr);
        return { kind: 'function', apply: (args) => this.#enter(body, frame, bind(expr, args)) };
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
      if (callee.name === DEVICE_COPY) return asTensor(args[0] ?? 0);
      if (callee.name === STOP) throw new RuntimeError(stringAttribute(attributes, 'message'));
      if (callee.name === AS_ANY) return args[0] ?? 0;
      const scalar = SCALAR_OPERATORS.get(callee.name);
      if (scalar !== undefined) return scalarResult(scalar, args, attributes);
      return evaluateCall(
        CORE_OPERATORS.require(callee.name),
        args.map(asTensor),
        this.#bound(attributes),
      );
    }
    const fn = this.#value(callee, frame);
    if (isStructured(fn) && fn.kind === 'function') return fn.apply(args);
    throw new Error('internal: a call of what is no function');
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
    if (size === undefined) throw new Error('internal: a symbol has no size');
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

function isStructured(
  value: ReferenceValue,
): value is Exclude<ReferenceValue, HostTensor | number> {
  return typeof value === 'object' && !(value instanceof HostTensor);
}

function asTensor(value: ReferenceValue): HostTensor {
  if (value instanceof HostTensor) return value;
  throw new Error('internal: an operand is no tensor');
}

function fieldOf(value: ReferenceValue, index: number): ReferenceValue {
  const field = isStructured(value) && value.kind !== 'function' ? value.fields[index] : undefined;
  if (field === undefined) throw new Error(`internal: no field ${index}`);
  return field;
}

function isTrue(value: ReferenceValue): boolean {
  return value instanceof HostTensor ? truthOf(value) !== 0 : value !== 0;
}

function fits(pattern: Pattern, value: ReferenceValue, bound: Map<Expr, ReferenceValue>): boolean {
  if (pattern.kind === 'wildcard') return true;
  if (pattern.kind === 'var-pattern') {
    bound.set(pattern.variable, value);
    return true;
  }
  if (pattern.kind === 'constructor-pattern') {
    const isOther = !isStructured(value) || value.kind !== 'data';
    if (isOther || value.name !== pattern.constructor) return false;
  }
  return pattern.fields.every((field, i) => fits(field, fieldOf(value, i), bound));
}

const INT_BUILTINS: Readonly<Partial<Record<BuiltinName, IntBuiltin>>> = intBuiltins(notInts);

type IntBuiltin = (a: ReferenceValue, b: ReferenceValue) => number;

function notInts(): never {
  throw new Error('internal: an operand is no int');
}

function scalarResult(
  { name, builtin }: ScalarOperator,
  args: readonly ReferenceValue[],
  attributes: Attributes,
): number {
  const [a = 0, b = 0] = args;
  if (a instanceof HostTensor) return a.shape[Number(attributes['axis'])] ?? -1;
  const compute = builtin === undefined ? undefined : INT_BUILTINS[builtin];
  if (compute === undefined) throw new Error(`internal: ${name} in a module for the reference`);
  return compute(a, b);
}
