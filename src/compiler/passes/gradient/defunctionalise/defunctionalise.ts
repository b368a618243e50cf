import * as ir from '../../../ir/build.ts';
import type {
  CallExpr,
  ConstructorExpr,
  Expr,
  FunctionExpr,
  MatchExpr,
  Module,
  VarExpr,
} from '../../../ir/expr.ts';
import { isGradientCall } from '../../../ir/operators/gradient-operators.ts';
import { isOperatorCall, type OperatorCall } from '../../../ir/operators/operator-name.ts';
import { MAKE_CLOSURE } from '../../../ir/operators/machine-operators.ts';
import type {
  AdtTypeNode,
  ConstructorDefinition,
  FunctionTypeNode,
  Type,
  TypeDefinition,
} from '../../../ir/type.ts';
import {
  bindersOf,
  mapFunctions,
  postOrder,
  rewrite,
  withChildren,
} from '../../../ir/walk/visit.ts';
import type { TypeInference } from '../../../inference/type-inference.ts';
import { countReaders } from '../../../rewriting/count-readers.ts';
import { inferTypes } from '../../infer-types.ts';
import { lambdaLift } from '../../lift-lambdas/lambda-lift.ts';
import { nameUnknownParams } from '../../dims/bind-dims.ts';
import { nameUnknownDims } from '../../dims/name-unknown-dims.ts';
import type { PassContext } from '../../pass.ts';
import { toAnf } from '../../to-anf.ts';
import { boundSymbols } from '../copy-function.ts';
import { substituteTypes } from '../typed-values.ts';
import { derivativesAsFunctions } from './derivatives-as-functions.ts';
import { constructorOf, DataInstances } from './data-instances.ts';
import { type FunctionClass, FunctionClasses } from './function-classes.ts';
import { functionTypesIn, somePart, withoutSizes } from './type-parts.ts';
import {
  type MatchedType,
  newNames,
  type NewSize,
  withSizes,
  withSizesOfSource,
} from './held-sizes.ts';
import { monomorphise } from './monomorphise.ts';

/** A program whose functions of some types are data, and these types. */
interface Defunctionalised {
  /** Undefined if the program makes no function of one of them. */
  readonly module: Module | undefined;
  readonly classes: FunctionClasses;
}

/**
 * Makes data of the function values of some types (Reynolds, "Definitional interpreters for higher-order programming
 * languages", 1972): one constructor for each function that may be such a value, whose fields are what it captures, and a
 * function that calls it. What is known of data, derivatives with respect to fields among it, holds of functions then.
 * Function values of other types are functions that stand where they are, as before.
 */
export function defunctionalise(
  source: Module,
  given: readonly FunctionTypeNode[],
  context: PassContext,
): Defunctionalised {
  const { types } = context;
  types.declare(source);
  const plain = inferTypes.run(
    mapFunctions(source, (fn) => derivativesAsFunctions(fn, types)),
    context,
  );
  const lifted = withoutMarks(lambdaLift.run(toAnf.run(plain, context), context), plain);
  types.declare(lifted);
  const { module, instances } = monomorphise(lifted, types);
  types.declare(module);
  const data = new DataInstances(module.types);
  const classes = new FunctionClasses(new Set(module.types.keys()), data);
  for (const type of given) classes.add(type);
  const requested = new Set(classes.all());
  addReached(module, classes, { types, instances });
  const made = new Conversion(module, classes, types).run(requested);
  if (made === undefined) return { module: undefined, classes };
  const converted = inferTypes.run(made, context);
  const named = mapFunctions(converted, nameUnknownParams);
  types.declare(named);
  return { module: inferTypes.run(nameUnknownDims.run(named, context), context), classes };
}

/** Functions that were inside others are functions as any other from now on. */
function withoutMarks(module: Module, { functions }: Module): Module {
  return mapFunctions(module, (fn, name) => {
    const { captured: _, ...attributes } = fn.attributes;
    return functions.has(name) ? fn : { ...fn, attributes: { ...attributes, private: true } };
  });
}

/**
 * Functions that functions of a class capture are data, too. So are those that a class or an instance of a polymorphic
 * function takes or gives, for these leave the sizes in their types open.
 */
function addReached(
  { functions }: Module,
  classes: FunctionClasses,
  { types, instances }: { types: TypeInference; instances: ReadonlySet<string> },
): void {
  const add = (type: Type): void => {
    for (const own of functionTypesIn(type)) if (somePart(own, isSized)) classes.add(own);
  };
  const closures = [...functions.values()].flatMap(({ body }) => postOrder(body).filter(isClosure));
  for (const name of instances) {
    const fn = functions.get(name);
    if (fn !== undefined) for (const param of fn.params) add(types.of(param));
    if (fn?.resultType !== undefined) add(fn.resultType);
  }
  for (const fn of functions.values()) {
    for (const variable of postOrder(fn).flatMap(bindersOf)) {
      for (const type of appliedData(variable.type, classes.data)) {
        for (const field of classes.data.fields(type)) add(field);
      }
    }
  }
  for (const closure of closures) {
    const [code] = closure.args;
    if (code?.kind === 'global' && instances.has(code.name)) add(types.of(closure));
  }
  let count = -1;
  for (let size = 0; size !== count; size = [...classes.all()].length) {
    count = size;
    for (const { type } of classes.all()) {
      for (const part of [...type.params, type.result]) add(part);
    }
    for (const closure of closures) {
      if (classes.of(types.of(closure)) === undefined) continue;
      const captured = closure.args.slice(1).flatMap((arg) => functionTypesIn(types.of(arg)));
      for (const type of captured) classes.add(type);
    }
  }
}

function appliedData(type: Type | undefined, data: DataInstances): readonly AdtTypeNode[] {
  const found: AdtTypeNode[] = [];
  if (type !== undefined) {
    somePart(type, (part) => {
      if (part.kind === 'adt' && data.of(part) !== undefined) found.push(part);
      return false;
    });
  }
  return found;
}

function isSized(type: Type): boolean {
  return type.kind === 'tensor' && type.shape.length > 0;
}

function isClosure(expr: Expr): expr is OperatorCall {
  return isOperatorCall(expr) && expr.callee.name === MAKE_CLOSURE;
}

/** One of the functions that a value of a class may be. */
interface Member {
  readonly constructor: ConstructorDefinition;
  /** Its code: a global function, or a constructor. */
  readonly code: Expr;
}

class Conversion {
  readonly #module: Module;
  readonly #classes: FunctionClasses;
  readonly #types: TypeInference;
  readonly #members = new Map<FunctionClass, Map<string, Member>>();
  /** Data types by the names of their constructors. */
  readonly #owners: ReadonlyMap<string, string>;

  constructor(module: Module, classes: FunctionClasses, types: TypeInference) {
    this.#module = module;
    this.#owners = new Map(
      [...module.types.values()].flatMap(({ name, constructors }) =>
        constructors.map((own): [string, string] => [own.name, name]),
      ),
    );
    this.#classes = classes;
    this.#types = types;
    for (const own of classes.all()) this.#members.set(own, new Map());
  }

  /** Undefined if no function of a class that is given is made. */
  run(given: ReadonlySet<FunctionClass>): Module | undefined {
    const functions = new Map(
      [...this.#module.functions].map(([name, fn]) => [name, this.#function(fn)]),
    );
    const definitions = new Map<string, TypeDefinition>(
      [...this.#module.types].map(([name, definition]) => {
        const constructors = definition.constructors.map((own) => ({
          ...own,
          fields: own.fields.map((type) => this.#classes.mapped(type)),
        }));
        return [name, { ...definition, constructors }];
      }),
    );
    for (const [own, members] of this.#members) {
      const { name } = own.data;
      if (members.size === 0 && given.has(own)) return undefined;
      const made = [...members.values()].map(({ constructor }) => constructor);
      const constructors = made.length > 0 ? made : [{ name: `${name}.none`, fields: [] }];
      definitions.set(name, { name, params: [], constructors });
      functions.set(own.apply, this.#apply(own, [...members.values()]));
    }
    for (const definition of this.#classes.data.definitions((type) => this.#classes.mapped(type))) {
      definitions.set(definition.name, definition);
    }
    return { ...this.#module, functions, types: definitions };
  }

  /** `@apply(%f, %x) { match (%f) { F.0(%captured) => @code(%x, %captured) } }` */
  #apply({ type, data }: FunctionClass, members: readonly Member[]): FunctionExpr {
    const mapped = (part: Type): Type => this.#classes.mapped(part);
    const value = ir.variableOf('f', data);
    const args = type.params.map((param, i) => ir.variableOf(`x${i}`, mapped(param)));
    const clauses = members.map(({ constructor, code }) => {
      const captured = constructor.fields.map((field, i) => ir.variableOf(`c${i}`, field));
      return {
        pattern: {
          kind: 'constructor-pattern' as const,
          constructor: constructor.name,
          fields: captured.map((variable) => ({ kind: 'var-pattern' as const, variable })),
        },
        body: ir.callFunction({ ...code }, [...args, ...captured].map(takenApart)),
      };
    });
    const resultType = mapped(type.result);
    const body: Expr =
      clauses.length > 0
        ? { kind: 'match', value, clauses, complete: true }
        : ir.stopOf(new Error('internal: a function that is never made'), resultType);
    const fn = { ...ir.func([value, ...args], body), resultType };
    return { ...fn, attributes: { private: true } };
  }

  #function(fn: FunctionExpr): FunctionExpr {
    const lets = new Map<Expr, Expr>();
    for (const expr of postOrder(fn.body)) {
      if (expr.kind === 'let') lets.set(expr.variable, expr.value);
    }
    const standing = closuresOfOperators(fn.body, lets);
    const newSize = newNames(new Set(boundSymbols(fn)));
    const variables = new Map<Expr, VarExpr>();
    for (const expr of postOrder(fn)) {
      for (const variable of bindersOf(expr)) {
        // Inference knows better what a let is bound to.
        const isFree =
          expr.kind === 'let' && variable.type?.kind !== 'tensor' && !isBranching(expr.value);
        const type = isFree || variable.type === undefined ? undefined : variable.type;
        variables.set(variable, { ...variable, type: type && this.#classes.mapped(type) });
      }
    }
    const body = rewrite(fn.body, (expr, original) => {
      const bound = variables.get(expr);
      if (bound !== undefined) return bound;
      const rebound = withChildren(expr, (child) => variables.get(child) ?? child);
      if (original.kind === 'call' && rebound.kind === 'call') {
        return this.#call(rebound, original, { lets, standing, newSize });
      }
      if (original.kind === 'match' && rebound.kind === 'match') {
        return this.#match(rebound, this.#types.of(original.value), newSize);
      }
      // Types of nodes are known by identity.
      return { ...withChildren(rebound, (child) => this.#value(child)) };
    });
    const { resultType } = fn;
    return {
      ...fn,
      params: fn.params.map((param) => variables.get(param) ?? param),
      body: this.#value(body),
      ...(resultType === undefined ? {} : { resultType: this.#classes.mapped(resultType) }),
    };
  }

  #match(expr: MatchExpr, source: Type, newSize: NewSize): MatchExpr {
    const held = this.#classes.mapped(source);
    const clauses = expr.clauses.map((clause) => ({ ...clause, body: this.#value(clause.body) }));
    const whole = { ...expr, value: this.#value(expr.value), clauses };
    const fields = (own: AdtTypeNode, kept: AdtTypeNode, name: string): readonly MatchedType[] => {
      const { params = [], constructors = [] } = this.#module.types.get(own.name) ?? {};
      const types = constructors.find((candidate) => candidate.name === name)?.fields ?? [];
      const whole = this.#classes.data.source(kept);
      const mine = argumentsOf(params, own.args);
      const theirs = argumentsOf(
        params,
        whole === undefined ? kept.args : whole.args.map((type) => this.#classes.held(type)),
      );
      return types.map((type) => ({
        source: substituteTypes(type, mine),
        held:
          whole === undefined
            ? substituteTypes(this.#classes.mapped(type), theirs)
            : this.#classes.mapped(substituteTypes(type, theirs)),
      }));
    };
    const nameOf = (kept: AdtTypeNode, name: string): string =>
      this.#classes.data.source(kept) === undefined ? name : constructorOf(kept, name);
    return withSizesOfSource(whole, { source, held }, { newSize, fields, nameOf });
  }

  #call(expr: CallExpr, original: CallExpr, { lets, standing, newSize }: CallContext): Expr {
    if (isClosure(original)) return this.#closure(expr, original, standing.has(original));
    const { typeArguments, ...plain } = expr;
    if (isGradientCall(original)) {
      const args = expr.args.map((arg, i) => {
        const source = original.args[i] ?? arg;
        const isKnown = source.kind === 'global' || standing.has(lets.get(source) ?? source);
        return isKnown ? arg : this.#operand(arg, source);
      });
      return { ...plain, args };
    }
    const args = expr.args.map((arg) => this.#value(arg));
    const bound = lets.get(original.callee);
    const isDirect = bound !== undefined && isGradientCall(bound);
    const isVariable = original.callee.kind === 'var' && !isDirect;
    const own = isVariable ? this.#classes.of(this.#types.of(original.callee)) : undefined;
    if (own !== undefined) {
      const made = { ...plain, callee: ir.global(own.apply), args: [expr.callee, ...args] };
      return withSizes(made, this.#types.of(original), newSize);
    }
    const callee = expr.callee.kind === 'var' ? expr.callee : { ...expr.callee };
    if (typeArguments === undefined) return { ...plain, callee, args };
    if (callee.kind === 'constructor') {
      return this.#construction({ ...plain, args }, callee, typeArguments);
    }
    const given = typeArguments.map((type) => this.#classes.mapped(type));
    return { ...plain, callee, args, typeArguments: given };
  }

  #construction(plain: CallExpr, callee: ConstructorExpr, typeArguments: readonly Type[]): Expr {
    const owner = this.#owners.get(callee.name) ?? '';
    const whole = this.#classes.mapped({ kind: 'adt', name: owner, args: typeArguments });
    if (whole.kind === 'adt' && this.#classes.data.source(whole) !== undefined) {
      return { ...plain, callee: { ...callee, name: constructorOf(whole, callee.name) } };
    }
    const given = typeArguments.map((type) => this.#classes.held(type));
    return { ...plain, callee, typeArguments: given };
  }

  /** A closure of a class as data; any other one as a function that stands there. */
  #closure(expr: CallExpr, original: CallExpr, isStanding: boolean): Expr {
    const own = isStanding ? undefined : this.#classes.of(this.#types.of(original));
    const [code, ...captured] = expr.args;
    if (code?.kind !== 'global') throw new Error('internal: a closure of no global function');
    const values = captured.map((arg) => this.#value(arg));
    if (own === undefined) return this.#standing(code.name, values);
    const fields = original.args
      .slice(1)
      .map((arg) => withoutSizes(this.#classes.mapped(this.#types.of(arg))));
    return ir.construct(this.#member(own, code, fields), values, expr.span);
  }

  /** `fn (%x) { @name(%x, captured…) }` */
  #standing(name: string, captured: readonly Expr[]): Expr {
    const code = this.#module.functions.get(name);
    if (code === undefined) throw new Error(`internal: no @${name}`);
    const mapped = (type: Type | undefined) => type && this.#classes.mapped(type);
    const own = code.params.slice(0, code.params.length - captured.length);
    const params = own.map((param) => ir.variableOf(param.name, mapped(param.type)));
    const body = ir.callFunction(ir.global(name), [...params, ...captured]);
    return { ...ir.func(params, body), resultType: mapped(code.resultType) };
  }

  /**
   * The operand of an operator on functions. Where functions of its type became data, that is a
   * function which applies them: its code is known.
   */
  #operand(arg: Expr, original: Expr): Expr {
    const type = this.#types.of(original);
    const own = this.#classes.of(type);
    if (own === undefined || type.kind !== 'function') return arg;
    const params = type.params.map((param, i) =>
      ir.variableOf(`x${i}`, withoutSizes(this.#classes.mapped(param))),
    );
    const body = ir.callFunction(ir.global(own.apply), [arg, ...params]);
    return {
      ...ir.func(params, body),
      resultType: withoutSizes(this.#classes.mapped(type.result)),
    };
  }

  /** A function that is known by its name as a value. */
  #value(atom: Expr): Expr {
    if (atom.kind !== 'global' && atom.kind !== 'constructor') return atom;
    const own = this.#classes.of(this.#types.of(atom));
    return own === undefined ? { ...atom } : ir.construct(this.#member(own, atom, []), []);
  }

  /** The constructor of a function that may be a value of the class. */
  #member(own: FunctionClass, code: Expr, fields: readonly Type[]): string {
    if (code.kind !== 'global' && code.kind !== 'constructor') {
      throw new Error('internal: a function without a name');
    }
    const name = `${own.data.name}.${code.name}`;
    this.#members.get(own)?.set(name, { constructor: { name, fields }, code });
    return name;
  }
}

/** A tuple that is made of its own fields: sizes of fields get names, those inside of tuples have none. */
function takenApart(variable: VarExpr): Expr {
  const parts = (value: Expr, type: Type | undefined): Expr =>
    type?.kind === 'tuple' && hasTensors(type)
      ? ir.tuple(type.fields.map((field, i) => parts(ir.projection(value, i), field)))
      : value;
  return parts(variable, variable.type);
}

function hasTensors(type: Type): boolean {
  if (type.kind === 'tuple') return type.fields.some(hasTensors);
  return isSized(type);
}

function argumentsOf(params: readonly string[], args: readonly Type[]): ReadonlyMap<string, Type> {
  return new Map(params.flatMap((param, i) => (args[i] ? [[param, args[i]]] : [])));
}

function isBranching({ kind }: Expr): boolean {
  return kind === 'if' || kind === 'match';
}

interface CallContext {
  /** Values by the variables that are bound to them. */
  readonly lets: ReadonlyMap<Expr, Expr>;
  /** Closures that stay functions. */
  readonly standing: ReadonlySet<Expr>;
  readonly newSize: NewSize;
}

/** Closures that nothing reads but operators on functions, which want to know them. */
function closuresOfOperators(body: Expr, lets: ReadonlyMap<Expr, Expr>): ReadonlySet<Expr> {
  const readers = countReaders(body);
  const operands = postOrder(body).flatMap((expr) => (isGradientCall(expr) ? expr.args : []));
  const counts = new Map<Expr, number>();
  for (const operand of operands) counts.set(operand, (counts.get(operand) ?? 0) + 1);
  const found = new Set<Expr>();
  for (const [operand, count] of counts) {
    const value = lets.get(operand);
    if (value !== undefined && isClosure(value) && readers.get(operand) === count) found.add(value);
  }
  return found;
}
