import type { DimFacts } from '../../core/dims/dim-bounds.ts';
import { concreteShape, formatDim, type Dim } from '../../core/dims/dim.ts';
import { TypeCheckError, UnsupportedError } from '../../core/errors.ts';
import type { ConcreteTensorType, TensorType } from '../../core/contracts/primitive-function.ts';
import type { DimCheck } from '../../core/dims/symbolic-dims.ts';
import { CORE_OPERATORS } from '../../ops/tables/core-operators.ts';
import type { Operators } from '../../ops/operators.ts';
import { applyOperator, atPlace } from './apply-operator.ts';
import { applyScalarOperator } from './apply-scalar-operator.ts';
import { constructorsOf, type Declared, type DeclaredConstructor } from './declarations.ts';
import { forgetBranchSizes, forgetPatternSizes } from './sizes/forget-sizes.ts';
import { gatherDimFacts } from './sizes/gather-dim-facts.ts';
import { joinTypes } from './terms/join-types.ts';
import { variancesOf, type Variances } from './terms/variance.ts';
import {
  type CallExpr,
  type Expr,
  formatSpan,
  type FunctionExpr,
  type Span,
  spanOf,
  type VarExpr,
} from '../ir/expr.ts';
import { requireModule } from '../ir/require-module.ts';
import { SCALAR_OPERATORS } from '../ir/operators/scalar-operators.ts';
import {
  formatType,
  INT_TYPE,
  tensorType,
  type Type,
  type FunctionTypeNode,
  sameType,
} from '../ir/type.ts';
import { childrenOf, postOrder } from '../ir/walk/visit.ts';
import { type AppliedTerm, applied, symbolsOfTerm, termOf } from '../ir/term.ts';
import { isDerivativeOfGlobal } from '../ir/operators/gradient-operators.ts';
import { Unifier } from './terms/unifier.ts';

const UNIT: Type = { kind: 'tuple', fields: [] };

interface FunctionCall {
  readonly callee: FunctionTypeNode;
  readonly args: readonly Type[];
  readonly variances: Variances;
}

/**
 * The type of a call's result, and the dimensions that are compared when the program runs: the
 * function does so for its parameters when it is entered. Throws TypeCheckError. `variances`: of data types.
 */
function applyFunction(
  expr: CallExpr,
  { callee, args, variances }: FunctionCall,
): { result: Type; checks: readonly DimCheck[] } {
  const where = formatSpan(expr.span, 'function call');
  if (args.length !== callee.params.length) {
    const got = args.length === 1 ? '1 argument' : `${args.length} arguments`;
    throw new TypeCheckError({ where, got, expected: String(callee.params.length) });
  }
  const isPolymorphic = (callee.typeParams?.length ?? 0) > 0;
  if (!isPolymorphic && args.every((arg, i) => isSame(arg, callee.params[i]))) {
    return { result: callee.result, checks: [] };
  }
  const unifier = new Unifier({ ownSizes: true, variances });
  const instance = instantiate(unifier, { expr, callee, args });
  const checks: DimCheck[] = [];
  for (const [i, arg] of args.entries()) {
    const param = instance.args[i] ?? termOf(UNIT);
    const place = `${where}, argument ${parameterName(expr, i)}`;
    const unequal = (got: Dim, expected: Dim): string =>
      `${place}: got dimension ${formatDim(got)}, expected ${formatDim(expected)}.`;
    const onCheck = (left: Dim, right: Dim): void => {
      checks.push({ left, right, message: unequal(left, right) });
    };
    const onMismatch = (got: Dim, expected: Dim): never => {
      throw new TypeCheckError(unequal(got, expected));
    };
    if (unifier.flow(termOf(arg), param, { atRunTime: true, onCheck, onMismatch })) continue;
    const expected = formatType(unifier.typeOf(param, () => UNIT));
    throw new TypeCheckError({ where: place, got: formatType(arg), expected });
  }
  unifier.settle();
  return { result: unifier.typeOf(instance.args.at(-1) ?? termOf(UNIT), () => UNIT), checks };
}

function isSame(arg: Type, param: Type | undefined): boolean {
  return param !== undefined && sameType(arg, param);
}

/**
 * Symbols of a global function are its own. Those of a closure may be of the function around it: so they are taken where
 * arguments have them too, and where no parameter could tell them.
 */
function instantiate(
  unifier: Unifier,
  { expr, callee, args }: { expr: CallExpr; callee: FunctionTypeNode; args: readonly Type[] },
): AppliedTerm {
  const term = termOf(callee);
  if (term.kind !== 'applied') throw new Error('internal: a function type is no application');
  const isOwn = expr.callee.kind === 'global' || isDerivativeOfGlobal(expr.callee);
  const scope = new Set<string>();
  if (!isOwn) {
    const bound = symbolsIn(callee.params);
    for (const symbol of symbolsIn(args)) scope.add(symbol);
    for (const symbol of symbolsIn([callee.result])) if (!bound.has(symbol)) scope.add(symbol);
  }
  return unifier.instantiate(term, { scope, given: expr.typeArguments?.map(termOf) }).term;
}

function symbolsIn(types: readonly Type[]): ReadonlySet<string> {
  return symbolsOfTerm(applied('tuple', '', types.map(termOf)), { intoFunctions: true });
}

function parameterName({ callee }: CallExpr, index: number): string | number {
  const params = callee.kind === 'function' ? callee.params : undefined;
  return params?.[index]?.name ?? index + 1;
}

const NOTHING_DECLARED: Declared = { functions: new Map(), types: new Map() };

/**
 * The types of expressions of a module as `infer-types` leaves it. A node's type follows from the
 * node and from what the module declares, so that it is inferred once and a pass may ask for the
 * type of a node that it has just made.
 */
export class TypeInference {
  /** The operators that may be called, for passes too. */
  readonly operators: Operators;
  #types = new WeakMap<Expr, Type>();
  readonly #checks = new WeakMap<Expr, readonly DimCheck[]>();
  #declared: Declared;
  #constructors: ReadonlyMap<string, DeclaredConstructor>;
  /** Global functions whose result is being inferred. */
  readonly #open = new Set<string>();
  #facts: DimFacts;

  constructor(declared: Declared = NOTHING_DECLARED, operators: Operators = CORE_OPERATORS) {
    requireModule('TypeInference', declared);
    this.operators = operators;
    this.#declared = declared;
    this.#constructors = constructorsOf(declared.types);
    this.#facts = gatherDimFacts(declared.functions);
  }

  /**
   * The module that names refer to from now on. What is known of nodes stays: a pass does not change
   * the signature of a function or a data type under the same name.
   */
  declare(declared: Declared): void {
    if (declared.types !== this.#declared.types) {
      this.#constructors = constructorsOf(declared.types);
    }
    this.#facts = gatherDimFacts(declared.functions);
    this.#declared = declared;
  }

  /** Throws TypeCheckError or ShapeError with the place in the source model. */
  of(expr: Expr): Type {
    const known = this.#known(expr);
    if (known !== undefined) return known;
    const isOpen = (inner: Expr): boolean => this.#known(inner) === undefined;
    const enter = (inner: Expr): boolean => isOpen(inner) && !isDeclared(inner);
    // Passes ask for the type of each node that they make.
    const order = childrenOf(expr).some(isOpen) ? postOrder(expr, enter) : [expr];
    for (const node of order) {
      // An operator has a type only together with the operands of its call.
      if (node.kind !== 'operator' && isOpen(node)) this.#types.set(node, this.#infer(node));
    }
    return this.#typed(expr);
  }

  #known(expr: Expr): Type | undefined {
    return expr.kind === 'var' ? expr.type : this.#types.get(expr);
  }

  /** The type of an expression that must be a tensor with all dimensions known. */
  tensor(expr: Expr): ConcreteTensorType {
    return concreteTensor(this.of(expr), spanOf(expr));
  }

  /** The checks of a call on dimensions that only the running program knows. */
  checks(expr: CallExpr): readonly DimCheck[] {
    this.of(expr);
    return this.#checks.get(expr) ?? [];
  }

  #typed(expr: Expr): Type {
    const type = this.#known(expr);
    if (type === undefined) throw new Error(`internal: a ${expr.kind} has no type`);
    return type;
  }

  #infer(expr: Expr): Type {
    switch (expr.kind) {
      case 'var':
        return declaredType(expr);
      case 'constant':
        return tensorType(expr.value);
      case 'int':
        return INT_TYPE;
      case 'constructor':
        return this.#constructorType(expr.name, expr.span);
      case 'global':
        return this.#global(expr.name, expr.span);
      case 'call':
        return this.#call(expr);
      case 'function':
        return functionType(expr, expr.resultType ?? this.#typed(expr.body));
      case 'tuple':
        return { kind: 'tuple', fields: expr.fields.map((field) => this.#typed(field)) };
      case 'projection':
        return fieldType(this.#typed(expr.tuple), expr.index, expr.span);
      case 'let':
        return this.#typed(expr.body);
      case 'if':
        return this.#join(expr, [expr.thenBranch, expr.elseBranch]);
      case 'match':
        return forgetPatternSizes(
          this.#join(
            expr,
            expr.clauses.map(({ body }) => body),
          ),
          expr,
          this.#typed(expr.value),
        );
      case 'operator':
        throw new Error(`internal: operator ${expr.name} outside a call`);
      default:
        return expr satisfies never;
    }
  }

  #call(expr: CallExpr): Type {
    if (expr.callee.kind === 'operator') return this.#operatorCall(expr, expr.callee.name);
    const callee = this.#typed(expr.callee);
    if (callee.kind !== 'function') {
      const where = formatSpan(expr.span, 'function call');
      const got = `a call of ${formatType(callee)}`;
      throw new TypeCheckError({ where, got, expected: 'a function' });
    }
    const args = expr.args.map((arg) => this.#typed(arg));
    const variances = variancesOf(this.#declared.types);
    const { result, checks } = applyFunction(expr, { callee, args, variances });
    if (checks.length > 0) this.#checks.set(expr, checks);
    return result;
  }

  #operatorCall(expr: CallExpr, op: string): Type {
    try {
      const inputs = expr.args.map((arg) => this.#typed(arg));
      const scalar = SCALAR_OPERATORS.get(op);
      if (scalar !== undefined) return applyScalarOperator(scalar, inputs, expr);
      const tensors = inputs.map((type) => requireTensor(type, expr.span));
      const { output, checks } = applyOperator(op, tensors, expr.attributes, {
        facts: this.#facts,
        operators: this.operators,
      });
      if (checks.length > 0) this.#checks.set(expr, checks);
      return tensorType(output);
    } catch (thrown) {
      throw atPlace(thrown, expr.span);
    }
  }

  #constructorType(name: string, span: Span | undefined): Type {
    const declared = this.#constructors.get(name);
    if (declared !== undefined) return declared.type;
    const got = `the constructor ${name}`;
    const expected = 'one that a type of the module has';
    throw new TypeCheckError({ where: formatSpan(span, 'expression'), got, expected });
  }

  #global(name: string, span: Span | undefined): Type {
    const fn = this.#declared.functions.get(name);
    const where = formatSpan(span, 'expression');
    if (fn === undefined) {
      const expected = 'a function that the module defines';
      throw new TypeCheckError({ where, got: `@${name}`, expected });
    }
    if (fn.resultType !== undefined) return functionType(fn, fn.resultType);
    if (this.#open.has(name)) {
      const got = `@${name} without a result type, which calls itself`;
      throw new TypeCheckError({ where, got, expected: 'a module after infer-types' });
    }
    this.#open.add(name);
    const type = this.of(fn);
    this.#open.delete(name);
    return type;
  }

  #join(expr: Expr, branches: readonly Expr[]): Type {
    const where = formatSpan(spanOf(expr), expr.kind);
    const [first, ...others] = branches.map((branch) => this.#typed(branch));
    if (first === undefined) {
      throw new UnsupportedError({ where, got: 'no clauses', expected: 'at least one' });
    }
    const variances = variancesOf(this.#declared.types);
    const joined = others.reduce(
      (type, other) => joinTypes(type, other, { where, variances }),
      first,
    );
    return forgetBranchSizes(joined, branches, (part) => this.#typed(part));
  }
}

/**
 * Returns true for a function that declares its result: its type follows without those of its
 * children.
 */
function isDeclared(expr: Expr): boolean {
  return expr.kind === 'function' && expr.resultType !== undefined && childrenOf(expr).length > 0;
}

function functionType(fn: FunctionExpr, result: Type): Type {
  const { typeParams = [] } = fn;
  const binder = typeParams.length === 0 ? {} : { typeParams };
  return { kind: 'function', ...binder, params: fn.params.map(declaredType), result };
}

function fieldType(type: Type, index: number, span: Span | undefined): Type {
  const field = type.kind === 'tuple' ? type.fields[index] : undefined;
  if (field !== undefined) return field;
  throw new TypeCheckError({
    where: formatSpan(span, 'projection'),
    got: `field ${index} of ${formatType(type)}`,
    expected: type.kind === 'tuple' ? `one of ${type.fields.length} fields` : 'a tuple',
  });
}

function declaredType(variable: VarExpr): Type {
  if (variable.type !== undefined) return variable.type;
  throw new TypeCheckError({
    where: formatSpan(variable.span, `variable ${variable.name}`),
    got: 'no type',
    expected: 'the type of every variable',
  });
}

function requireTensor(type: Type, span: Span | undefined): TensorType {
  if (type.kind === 'tensor') return type;
  const where = formatSpan(span, 'expression');
  throw new TypeCheckError({ where, got: formatType(type), expected: 'a tensor' });
}

function concreteTensor(type: Type, span: Span | undefined): ConcreteTensorType {
  const { dtype, shape: dims } = requireTensor(type, span);
  const shape = concreteShape(dims);
  if (shape !== undefined) return { dtype, shape };
  const free = dims.find((dim) => typeof dim !== 'number') ?? '?';
  throw new TypeCheckError({
    where: formatSpan(span, 'expression'),
    got: `${formatType(type)}, whose dimension ${formatDim(free)} is unknown`,
    expected: 'a shape of numbers',
    remedy: `Bind the symbol when compiling: dims: { ${formatDim(free)}: 1 }.`,
  });
}
