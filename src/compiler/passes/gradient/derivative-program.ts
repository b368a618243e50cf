import { UnsupportedError } from '../../../core/errors.ts';
import { isUnknownDim } from '../../../core/dims/dim-symbols.ts';
import type { Dim } from '../../../core/dims/dim.ts';
import type { AdjointLookup } from '../../../ops/adjoint/adjoint.ts';
import { adjointOf } from '../../../ops/tables/adjoints.ts';
import type { TypeInference } from '../../inference/type-inference.ts';
import { callFunction, func, global, scalar, tuple, variableOf } from '../../ir/build.ts';
import { cotangentType } from '../../ir/cotangent-type.ts';
import {
  type CallExpr,
  type Expr,
  formatSpan,
  type FunctionExpr,
  type Span,
  type VarExpr,
} from '../../ir/expr.ts';
import { placeOfFunction } from '../../ir/place.ts';
import { hashExpr } from '../../ir/walk/structural-equal.ts';
import {
  formatType,
  type FunctionTypeNode,
  type Type,
  type TypeDefinition,
} from '../../ir/type.ts';
import { nameUnknownParams } from '../dims/bind-dims.ts';
import { nameSizes } from '../dims/name-unknown-dims.ts';
import {
  boundSymbols,
  copyFunction,
  freshNames,
  hasUnknownDims,
  sizesOf,
  specialiseTypes,
  symbolsOf,
} from './copy-function.ts';
import type { BlockPlace, DerivativeContext, Signature } from './derivative-context.ts';
import { Derivatives } from './derivatives.ts';
import { Emitter } from './emitter.ts';
import { ForwardMode } from './forward-mode.ts';
import {
  type ClosedFunction,
  closeFunction,
  type KnownFunction,
  knownFunction,
  type KnownFunctions,
  withinLets,
} from './known-function.ts';
import { ReverseMode } from './reverse-mode.ts';
import { functionTypeIn, RunTimeFunctionError } from './run-time-function.ts';
import { TypedValues } from './typed-values.ts';
import { unusedName } from './unused-name.ts';

interface ProgramParts {
  readonly types: TypeInference;
  readonly definitions: ReadonlyMap<string, TypeDefinition>;
  /** Functions in A-normal form, to which derivatives are added. */
  readonly functions: Map<string, FunctionExpr>;
}

/** So many versions of one function for the functions that are passed to it. */
const MAX_VERSIONS = 64;

/** How much longer than that of the first version the name of another one may be: types that double do not end. */
const NAME_GROWTH = { factor: 16, more: 4000 };

/** A program while derivatives of its functions are added. */
export class DerivativeProgram implements DerivativeContext {
  readonly types: TypeInference;
  readonly values: TypedValues;
  readonly lookup: AdjointLookup;
  readonly #functions: Map<string, FunctionExpr>;
  readonly #versions = new Map<string, string[]>();
  /** Names of the functions that were made, by the names that were wanted for them. */
  readonly #made = new Map<string, string>();

  constructor({ types, definitions, functions }: ProgramParts) {
    this.types = types;
    this.values = new TypedValues({ types, definitions, functions });
    this.#functions = functions;
    this.lookup = (name) => {
      const op = types.operators.require(name);
      return { op, adjoint: adjointOf(op) };
    };
  }

  #source(name: string): FunctionExpr {
    const fn = this.#functions.get(name);
    if (fn === undefined) throw new Error(`internal: no @${name}`);
    return fn;
  }

  signature(name: string): Signature {
    const fn = this.#source(name);
    const params = fn.params.map((param) => this.types.of(param));
    return { params, result: resultOf(fn, this.types) };
  }

  specialise(
    expr: CallExpr,
    name: string,
    known: KnownFunctions,
  ): { readonly name: string; readonly args: readonly Expr[] } {
    const fn = this.#source(name);
    const isFunction = fn.params.map((param) => holdsFunctions(this.types.of(param)));
    const typeArguments = expr.typeArguments ?? [];
    if (!isFunction.includes(true) && typeArguments.length === 0) return { name, args: expr.args };
    const functions = expr.args.map((arg, i) =>
      isFunction[i] === true ? this.#passed(expr, arg, known) : undefined,
    );
    const captured = [...new Set(functions.flatMap((passed) => passed?.captured ?? []))];
    const args = [...captured, ...expr.args.filter((_, i) => isFunction[i] !== true)];
    const types = [...captured.map((variable) => this.types.of(variable)), ...typeArguments];
    const key = [...functions.map((passed) => passed?.key), ...types.map(formatType)];
    const version = `${name}<${key.join(' ')}>`;
    const versions = this.#versions.get(name) ?? [];
    this.#versions.set(name, versions);
    let index = versions.indexOf(version);
    if (index < 0) {
      const longest = (versions[0] ?? version).length * NAME_GROWTH.factor + NAME_GROWTH.more;
      const isEndless = versions.length >= MAX_VERSIONS || version.length > longest;
      if (isEndless) throw this.#tooManyVersions(expr, name);
      index = versions.push(version) - 1;
      const made = this.#version(fn, { functions, captured, typeArguments });
      this.#functions.set(this.#nameOf(versionName(name, index)), made);
    }
    return { name: this.#nameOf(versionName(name, index)), args };
  }

  /**
   * The name of what is made under a name: another one where a function has that, such as one for the derivatives of a
   * derivative, whose functions may be data.
   */
  #nameOf(wanted: string): string {
    const known = this.#made.get(wanted);
    if (known !== undefined) return known;
    const name = unusedName(wanted, this.#functions);
    this.#made.set(wanted, name);
    return name;
  }

  /** Recursion that passes ever new functions on. */
  #tooManyVersions(expr: CallExpr, name: string): Error {
    const [type] = expr.args.flatMap((arg) => functionTypeIn(this.types.of(arg)) ?? []);
    if (type !== undefined) return new RunTimeFunctionError(expr, type);
    return new UnsupportedError({
      where: formatSpan(expr.span, 'gradient'),
      got: `ever new types that @${name} is called at`,
      expected: 'recursion at the same types',
    });
  }

  /** A function, or a tuple with functions, that is passed, with what it captures. */
  #passed(expr: CallExpr, arg: Expr, known: KnownFunctions): PassedFunction {
    const value = knownFunction(arg, known)?.value;
    if (value === undefined) {
      const type = functionTypeIn(this.types.of(arg));
      if (type === undefined) throw new Error('internal: an argument that is no function');
      throw new RunTimeFunctionError(expr, type);
    }
    const { captured, lets } = closeFunction(value, known);
    const type = this.types.of(arg);
    const closed = func(captured, withinLets(lets, value));
    const code = value.kind === 'global' ? `@${value.name}` : hashExpr(closed);
    return { key: `${code}: ${formatType(type)}`, captured, lets, value, type };
  }

  /** `let %f = …;` in place of a parameter, and what it captures as parameters. */
  #version(fn: FunctionExpr, { functions, captured, typeArguments }: VersionParts): FunctionExpr {
    const { operators } = this.types;
    const given = functions.filter((passed) => passed !== undefined);
    const around = [
      ...given.map(({ type }) => type),
      ...captured.map((variable) => this.types.of(variable)),
      ...typeArguments,
    ];
    const taken = new Set([
      ...around.flatMap((type) => symbolsOf(type)),
      ...given.flatMap(({ lets, value }) => boundSymbols(func([], withinLets(lets, value)))),
    ]);
    const names = freshNames(fn, { known: new Set(), taken });
    // Sizes of functions that are passed are those of the caller.
    for (const [i, param] of fn.params.entries()) {
      const type = functions[i]?.type;
      if (type !== undefined) matchDims(this.types.of(param), type, names);
    }
    const renamed = copyFunction(fn, names, operators);
    const types = new Map(
      (fn.typeParams ?? []).map((param, i) => [param, typeArguments[i] ?? tupleType([])]),
    );
    const copy = specialiseTypes(renamed, types);
    const others = copy.params.filter((_, i) => functions[i] === undefined);
    const lets = new Map(given.flatMap((passed) => passed.lets.map((one) => [one.variable, one])));
    const passed = copy.params.flatMap((variable, i) => {
      const value = functions[i]?.value;
      return value === undefined ? [] : [{ variable, value }];
    });
    const body = withinLets([...lets.values(), ...passed], copy.body);
    const version = { ...copy, params: [...captured, ...others], body };
    // Sizes get names, as those of the program's own functions have them here.
    const own = nameUnknownParams(copyFunction(version, new Map(), operators));
    return nameSizes(own, this.types);
  }

  vjp(name: string): string {
    const made = this.#nameOf(`${name}.forward`);
    if (this.#functions.has(made)) return made;
    const { fn, at, signature } = this.#begin(name);
    const { params, result } = signature;
    const isPacked = hasUnknownDims(result);
    const own = cotangentType(result);
    const back: FunctionTypeNode = {
      kind: 'function',
      params: [isPacked ? tupleType([own]) : own],
      result: tupleType(params.map(cotangentType)),
    };
    const resultType = tupleType([result, back]);
    this.#functions.set(made, { ...func(fn.params, tuple([])), resultType });
    const mode = new ReverseMode(at);
    const value = mode.run(fn.body);
    const closure = mode.backOf({ operands: fn.params, type: result, result: value });
    const body = at.emitter.around(tuple([value, closure]));
    this.#functions.set(made, { ...func(fn.params, body), resultType });
    return made;
  }

  /** `@f.vjp`, the result of @f and the cotangents of its parameters, from a cotangent of the result. */
  withCotangent(name: string, captured: number): string {
    const active = (i: number): boolean => i >= captured;
    return this.#entry(name, { suffix: 'vjp', active, seeded: false });
  }

  /** `@f.gradient`, the result of @f and its gradient. The first parameters may be captured values. */
  gradient(name: string, captured: number): string {
    const active = (i: number): boolean => i >= captured;
    return this.#entry(name, { suffix: 'gradient', active, seeded: true });
  }

  jvp(name: string, captured = 0): string {
    const made = this.#nameOf(`${name}.jvp`);
    if (this.#functions.has(made)) return made;
    const { fn, at, signature } = this.#begin(name, () => false);
    const own = fn.params.slice(captured);
    const given = own.map((param) =>
      variableOf(`${param.name}_tangent`, cotangentType(this.types.of(param))),
    );
    const { result } = signature;
    const resultType = tupleType([result, cotangentType(result)]);
    const params = [...fn.params, ...given];
    this.#functions.set(made, { ...func(params, tuple([])), resultType });
    const { emitter } = at;
    const mode = new ForwardMode(at, new Derivatives(this.values, emitter));
    for (const [i, param] of own.entries()) {
      const expr = given[i];
      if (expr !== undefined) mode.set(param, { kind: 'whole', expr });
    }
    const { value, tangent } = mode.run(fn.body);
    const typed = this.values.conform(tangent, result, emitter);
    const body = emitter.around(tuple([value, typed]));
    this.#functions.set(made, { ...func(params, body), resultType });
    return made;
  }

  #entry(name: string, { suffix, active, seeded }: Entry): string {
    const made = this.#nameOf(`${name}.${suffix}`);
    if (this.#functions.has(made)) return made;
    const { fn, at, signature } = this.#begin(name, active);
    const outs = fn.params.filter((_, i) => active(i));
    const { result } = signature;
    const cotangent = variableOf('cotangent', cotangentType(result));
    const params = seeded ? fn.params : [...fn.params, cotangent];
    const gradients = tupleType(outs.map((param) => cotangentType(this.types.of(param))));
    const resultType = tupleType([result, gradients]);
    this.#functions.set(made, { ...func(params, tuple([])), resultType });
    const { emitter } = at;
    const mode = new ReverseMode(at);
    const primal = mode.run(fn.body);
    const cotangents = new Derivatives(this.values, emitter);
    mode.pull(primal, seeded ? scalarOne(result) : cotangent, cotangents);
    const found = tuple(outs.map((param) => cotangents.wholeOf(param, this.types.of(param))));
    const body = emitter.around(tuple([primal, found]));
    this.#functions.set(made, { ...func(params, body), resultType });
    return made;
  }

  /** A copy of a function, to be differentiated with respect to parameters. */
  #begin(
    name: string,
    isActive: (param: number) => boolean = () => true,
  ): { fn: FunctionExpr; at: BlockPlace; signature: Signature } {
    const fn = copyFunction(this.#source(name), new Map(), this.types.operators);
    const active = new Set<Expr>(
      fn.params.filter((param, i) => isActive(i) && this.values.hasFloats(this.types.of(param))),
    );
    const scope = {
      active,
      known: new Map<VarExpr, KnownFunction>(),
      symbols: new Set(fn.params.flatMap(({ type }) => sizesOf(type))),
      taken: new Set(boundSymbols(fn)),
    };
    const params = fn.params.map((param) => this.types.of(param));
    const emitter = new Emitter(this.types, placeOfFunction(fn), scope.taken);
    const signature = { params, result: resultOf(fn, this.types) };
    return { fn, at: { program: this, scope, emitter }, signature };
  }

  /** A closure that calls a derivative of a function with what that captures. */
  closureOf(name: string, captured: readonly VarExpr[], span: Span | undefined): Expr {
    if (captured.length === 0) return global(name);
    const fn = this.#functions.get(name);
    if (fn === undefined) throw new Error(`internal: no @${name}`);
    const params = fn.params.slice(captured.length).map((param) => ({ ...param }));
    const body = callFunction(global(name), [...captured, ...params], span);
    return { ...func(params, body), ...(span && { span }) };
  }
}

interface PassedFunction extends ClosedFunction {
  /** The same for functions of the same code. */
  readonly key: string;
  readonly value: Expr;
  readonly type: Type;
}

interface VersionParts {
  /** The function that each parameter gets; undefined for parameters that are no functions. */
  readonly functions: readonly (PassedFunction | undefined)[];
  readonly captured: readonly VarExpr[];
  readonly typeArguments: readonly Type[];
}

interface Entry {
  readonly suffix: string;
  readonly active: (param: number) => boolean;
  /** The cotangent of the result is 1. */
  readonly seeded: boolean;
}

function scalarOne(result: Type): Expr {
  if (result.kind !== 'tensor') throw new Error('internal: the gradient of no tensor');
  return scalar(
    result.dtype === 'float16' ? 0x3c00 : result.dtype === 'bfloat16' ? 0x3f80 : 1,
    result.dtype,
  );
}

function versionName(name: string, index: number): string {
  return `${name}.of_${index}`;
}

/** Returns true for types of functions, and of tuples that hold some. */
function holdsFunctions(type: Type): boolean {
  if (type.kind === 'tuple') return type.fields.some(holdsFunctions);
  return type.kind === 'function';
}

/** Adds the dimensions that the symbols in a type mean in another one of the same form. */
function matchDims(type: Type, given: Type, names: Map<string, Dim>): void {
  if (type.kind === 'tensor' && given.kind === 'tensor') {
    for (const [axis, dim] of type.shape.entries()) {
      const own = given.shape[axis];
      if (typeof dim !== 'string' || isUnknownDim(dim)) continue;
      if (own !== undefined && !isUnknownDim(own)) names.set(dim, own);
    }
  } else if (type.kind === 'tuple' && given.kind === 'tuple') {
    matchAll(type.fields, given.fields, names);
  } else if (type.kind === 'adt' && given.kind === 'adt') {
    matchAll(type.args, given.args, names);
  } else if (type.kind === 'function' && given.kind === 'function') {
    matchAll([...type.params, type.result], [...given.params, given.result], names);
  }
}

function matchAll(types: readonly Type[], given: readonly Type[], names: Map<string, Dim>): void {
  for (const [i, type] of types.entries()) {
    const own = given[i];
    if (own !== undefined) matchDims(type, own, names);
  }
}

function tupleType(fields: readonly Type[]): Type {
  return { kind: 'tuple', fields };
}

function resultOf(fn: FunctionExpr, types: TypeInference): Type {
  return fn.resultType ?? types.of(fn.body);
}
