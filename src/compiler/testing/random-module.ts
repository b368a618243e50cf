import { dtypeInfo } from '../../core/tensor/dtype.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { elementCount } from '../../core/tensor/shape.ts';
import {
  call,
  callFunction,
  constant,
  construct,
  constructorPattern,
  floatPattern,
  func,
  global,
  ifElse,
  int,
  intPattern,
  letIn,
  match,
  polymorphic,
  projection,
  tuple,
  tuplePattern,
  variableOf,
  wildcard,
} from '../ir/build.ts';
import type { Expr, FunctionExpr, Module, Pattern, VarExpr } from '../ir/expr.ts';
import {
  BATCH,
  BOOL,
  definitionOf,
  instantiate,
  RandomTypes,
  SCALAR,
  TYPE_DEFINITIONS,
  VECTOR,
} from './random-type.ts';
import {
  type AdtTypeNode,
  formatType,
  type FunctionTypeNode,
  INT_TYPE,
  type TensorTypeNode,
  tensorType,
  type TupleTypeNode,
  type Type,
} from '../ir/type.ts';

/** Options of random modules, for tests of what must hold for every module. */
interface RandomModuleOptions {
  /** Numbers in [0, 1). The same numbers give the same module. */
  readonly random: () => number;
  /** About how many expressions each function has; default 30. */
  readonly size?: number;
  /** Gives tensors the dimension `n`. Default: true. */
  readonly symbolic?: boolean;
  /** Gives every variable and result its type. By default some have none. */
  readonly annotated?: boolean;
  /** Lets functions call themselves and each other, with no end. Default: true. */
  readonly recursive?: boolean;
  /** Names of variables, each of which many have; by default odd ones. */
  readonly names?: readonly string[];
}

/**
 * A well-scoped, well-typed module with expressions, patterns and types of every kind, shared
 * expressions, odd names and odd numbers.
 */
export function randomModule(options: RandomModuleOptions): Module {
  return new ModuleGenerator(options).module();
}

const ODD_NAMES = ['x', 'y', 'x', 'lstm.h0', 'a b', 'fn', 'let', '0', '%', 'quote"', 'größe', ''];
const ODD_NUMBERS = [0, -0, 1, -1.5, 0.1, 1e-7, 3e38, 16777217, Infinity, -Infinity, NaN];

/** Names that a place may refer to: variables, and expressions to be shared. */
interface Scope {
  readonly available: readonly Available[];
  /** Expressions made here, which later ones may share. */
  readonly made: Available[];
}

interface Available {
  readonly type: Type;
  readonly expr: Expr;
}

class ModuleGenerator {
  readonly #choose: RandomTypes;
  readonly #size: number;
  readonly #symbolic: boolean;
  readonly #annotated: boolean;
  readonly #recursive: boolean;
  readonly #names: readonly string[];
  readonly #signatures = new Map<string, FunctionTypeNode>();
  #budget = 0;

  constructor({
    random,
    size = 30,
    symbolic = true,
    annotated = false,
    recursive = true,
    names = ODD_NAMES,
  }: RandomModuleOptions) {
    this.#choose = new RandomTypes(random, symbolic);
    this.#size = size;
    this.#symbolic = symbolic;
    this.#annotated = annotated;
    this.#recursive = recursive;
    this.#names = names;
  }

  module(): Module {
    const names = ['main', 'helper', 'odd name', 'f.1'].slice(0, 1 + this.#choose.below(4));
    for (const name of names) {
      const { params, result } = this.#choose.functionType(this.#choose.below(3));
      const rows = this.#symbolic ? [BATCH] : [];
      this.#signatures.set(name, { kind: 'function', params: [...rows, ...params], result });
    }
    const functions = new Map<string, FunctionExpr>([['same', identity()]]);
    for (const [name, type] of this.#signatures) {
      // A function that is not there cannot be called: a function calls only those after it.
      if (!this.#recursive) this.#signatures.delete(name);
      this.#budget = this.#size;
      const fn = this.#function(type, { available: [], made: [] });
      // Functions that call each other need it: nothing else may tell what they give.
      functions.set(name, { ...fn, resultType: type.result });
    }
    return {
      functions,
      types: new Map(TYPE_DEFINITIONS.map((definition) => [definition.name, definition])),
      metadata: this.#choose.chance(0.5) ? { producer: 'random "module"' } : {},
    };
  }

  #variable(type: Type, { optional = false } = {}): VarExpr {
    const isTyped = this.#annotated || !optional || this.#choose.chance(0.5);
    return variableOf(this.#choose.pick(this.#names), isTyped ? type : undefined);
  }

  #function(type: FunctionTypeNode, scope: Scope): FunctionExpr {
    const params = type.params.map((param) => this.#variable(param));
    const body = this.#expr(
      type.result,
      inner(
        scope,
        params.map((expr, i) => ({
          expr,
          type: type.params[i] ?? INT_TYPE,
        })),
      ),
    );
    const fn = func(params, body);
    return this.#annotated || this.#choose.chance(0.5) ? { ...fn, resultType: type.result } : fn;
  }

  /** An expression of a type: one that is there already, or a new one. */
  #expr(type: Type, scope: Scope): Expr {
    const wanted = formatType(type);
    const known = [...scope.available, ...scope.made].filter(
      (item) => formatType(item.type) === wanted,
    );
    if (known.length > 0 && (this.#budget <= 0 || this.#choose.chance(0.4)))
      return this.#choose.pick(known).expr;
    const expr = this.#budget-- <= 0 ? this.#leaf(type, scope) : this.#compound(type, scope);
    scope.made.push({ type, expr });
    return expr;
  }

  #compound(type: Type, scope: Scope): Expr {
    const makers: readonly (() => Expr)[] = [
      () => this.#intro(type, scope),
      () => this.#intro(type, scope),
      () => this.#intro(type, scope),
      () => this.#let(type, scope),
      () => this.#if(type, scope),
      () => this.#match(type, scope),
      () => this.#projection(type, scope),
      () => this.#callValue(type, scope),
      () => this.#callGlobal(type, scope),
      () => callFunction(global('same'), [this.#expr(type, scope)]),
    ];
    return this.#choose.pick(makers)();
  }

  /** An expression that makes a value of the type. */
  #intro(type: Type, scope: Scope): Expr {
    switch (type.kind) {
      case 'tensor':
        return this.#tensor(type, scope);
      case 'scalar':
        return this.#int(scope);
      case 'tuple':
        return tuple(type.fields.map((field) => this.#expr(field, scope)));
      case 'function':
        return this.#function(type, scope);
      case 'adt':
        return this.#construct(type, scope);
      case 'type-var':
        throw new Error('internal: no values of a type parameter are made');
      default:
        return type satisfies never;
    }
  }

  /** A small expression of the type, which ends the growth. */
  #leaf(type: Type, scope: Scope): Expr {
    if (type.kind === 'tensor') {
      return type.shape.includes('n') ? this.#rows(scope) : this.#constant(type);
    }
    if (type.kind === 'scalar') return int(this.#choose.below(100));
    if (type.kind === 'adt' && type.name === 'List') return construct('Nil', []);
    if (type.kind === 'adt' && type.name === 'Signal') return construct('Off', []);
    return this.#intro(type, scope);
  }

  /** Only variables have n rows: each global function has a parameter that does. */
  #rows({ available }: Scope): Expr {
    const rows = available.find((item) => formatType(item.type) === formatType(BATCH));
    if (rows === undefined) throw new Error('internal: no tensor of n rows');
    return rows.expr;
  }

  #constant({ dtype, shape }: TensorTypeNode): Expr {
    const dims = shape.map(Number);
    const isInteger = dtypeInfo(dtype).category !== 'float' || dtype === 'float16';
    const values = Array.from({ length: elementCount(dims) }, () =>
      isInteger ? this.#choose.below(dtype === 'bool' ? 2 : 100) : this.#choose.pick(ODD_NUMBERS),
    );
    if (this.#choose.chance(0.3)) return constant(HostTensor.splat(dtype, dims, values[0] ?? 0));
    return constant(HostTensor.from(dtype, dims, values));
  }

  #tensor(type: TensorTypeNode, scope: Scope): Expr {
    if (type.dtype === 'bool') {
      if (this.#choose.chance(0.3)) return call('logical_not', [this.#expr(BOOL, scope)]);
      return call('less', [this.#expr(SCALAR, scope), this.#expr(SCALAR, scope)]);
    }
    if (type.dtype === 'int32' && type.shape.length === 2) {
      if (this.#choose.chance(0.5))
        return call('add', [this.#expr(type, scope), this.#expr(type, scope)]);
      const other = tensorType({ dtype: 'int32', shape: [3, 2] });
      return call('transpose', [this.#constant(other)], { perm: [1, 0] });
    }
    if (type.dtype !== 'float32') return this.#leaf(type, scope);
    const makers: readonly (() => Expr)[] = [
      () => this.#leaf(type, scope),
      () => call(this.#choose.pick(['relu', 'tanh', 'exp']), [this.#expr(type, scope)]),
      () => call('clip', [this.#expr(type, scope)], { min: -Infinity, max: 6.5 }),
      () => call('leaky_relu', [this.#expr(type, scope)], { alpha: 0.01 }),
      () => call('mul', [this.#expr(type, scope), this.#expr(SCALAR, scope)]),
      () => ({ ...call('abs', [this.#expr(type, scope)]), onDevice: 'host' }),
      () => call('sub', [this.#expr(type, scope), this.#expr(type, scope)], {}),
      () =>
        type.shape.length === 0
          ? call('reduce_sum', [this.#expr(VECTOR, scope)], { axes: [0], keepdims: false })
          : call('softmax', [this.#expr(type, scope)], { axis: type.shape.length - 1 }),
      () => call('cast', [this.#expr(type, scope)], { to: 'float32' }),
      () => call('broadcast_to', [this.#expr(SCALAR, scope)], { shape: type.shape }),
    ];
    return this.#choose.pick(makers)();
  }

  #int(scope: Scope): Expr {
    const op = this.#choose.pick([
      'int_add',
      'int_sub',
      'int_mul',
      'int_floordiv',
      'int_mod',
      'int_lt',
    ]);
    if (this.#choose.chance(0.3)) return int(this.#choose.pick([0, 1, -7, 2 ** 40]));
    if (this.#choose.chance(0.2)) return call('dim', [this.#expr(VECTOR, scope)], { axis: 0 });
    return call(op, [this.#expr(INT_TYPE, scope), this.#expr(INT_TYPE, scope)]);
  }

  #construct(type: AdtTypeNode, scope: Scope): Expr {
    const definition = definitionOf(type);
    const constructor = this.#choose.pick(definition.constructors);
    const fields = constructor.fields.map((field) => this.#expr(instantiate(field, type), scope));
    return construct(constructor.name, fields);
  }

  #let(type: Type, scope: Scope): Expr {
    const bound = this.#choose.type();
    const value = this.#expr(bound, scope);
    const variable = this.#variable(bound, { optional: true });
    return letIn(
      variable,
      value,
      this.#expr(type, inner(scope, [{ expr: variable, type: bound }])),
    );
  }

  #if(type: Type, scope: Scope): Expr {
    const condition = this.#expr(this.#choose.pick<Type>([BOOL, INT_TYPE]), scope);
    return ifElse(condition, this.#expr(type, inner(scope)), this.#expr(type, inner(scope)));
  }

  #match(type: Type, scope: Scope): Expr {
    const matched = this.#choose.pick<Type>([
      { kind: 'adt', name: 'List', args: this.#choose.types(1, 1) },
      { kind: 'adt', name: 'Pair', args: this.#choose.types(2, 1) },
      { kind: 'adt', name: 'Signal', args: [] },
      { kind: 'tuple', fields: this.#choose.types(1 + this.#choose.below(3), 1) },
    ]);
    const value = this.#expr(matched, scope);
    const complete = this.#choose.chance(0.7);
    const patterns: (readonly [Pattern, Available[]])[] = [];
    const count = complete ? this.#choose.below(2) : 1 + this.#choose.below(2);
    for (let i = 0; i < count; i++) patterns.push(this.#pattern(matched, 2));
    // A wildcard or a variable at the end fits everything.
    if (complete) patterns.push(this.#pattern(matched, 0));
    return match(
      value,
      patterns.map(([pattern, bound]) => [pattern, this.#expr(type, inner(scope, bound))] as const),
      { complete },
    );
  }

  #pattern(type: Type, depth: number): readonly [Pattern, Available[]] {
    if (depth > 0 && type.kind === 'tuple') {
      const fields = type.fields.map((field) => this.#pattern(field, depth - 1));
      return [tuplePattern(fields.map(([field]) => field)), fields.flatMap(([, bound]) => bound)];
    }
    if (depth > 0 && type.kind === 'adt') {
      const constructor = this.#choose.pick(definitionOf(type).constructors);
      const fields = constructor.fields.map((field) =>
        this.#pattern(instantiate(field, type), depth - 1),
      );
      const pattern = constructorPattern(
        constructor.name,
        fields.map(([field]) => field),
      );
      return [pattern, fields.flatMap(([, bound]) => bound)];
    }
    if (depth > 0 && type.kind === 'scalar' && this.#choose.chance(0.5)) {
      const value = this.#choose.below(3);
      if (type.scalar === 'int') return [intPattern(value), []];
      if (type.scalar === 'float') return [floatPattern(value / 2), []];
    }
    if (this.#choose.chance(0.4)) return [wildcard(), []];
    const variable = this.#variable(type, { optional: true });
    return [{ kind: 'var-pattern', variable }, [{ expr: variable, type }]];
  }

  #projection(type: Type, scope: Scope): Expr {
    const fields = this.#choose.types(this.#choose.below(3), 1);
    const index = this.#choose.below(fields.length + 1);
    fields.splice(index, 0, type);
    const of: TupleTypeNode = { kind: 'tuple', fields };
    return projection(this.#expr(of, scope), index);
  }

  #callValue(type: Type, scope: Scope): Expr {
    const callee: FunctionTypeNode = {
      kind: 'function',
      params: this.#choose.types(this.#choose.below(3), 1),
      result: type,
    };
    const fn = this.#expr(callee, scope);
    return callFunction(
      fn,
      callee.params.map((param) => this.#expr(param, scope)),
    );
  }

  #callGlobal(type: Type, scope: Scope): Expr {
    const wanted = formatType(type);
    const found = [...this.#signatures].find(([, { result }]) => formatType(result) === wanted);
    if (found === undefined) return this.#intro(type, scope);
    const [name, { params }] = found;
    return callFunction(
      global(name),
      params.map((param) => this.#expr(param, scope)),
    );
  }
}

function inner({ available, made }: Scope, bound: readonly Available[] = []): Scope {
  return { available: [...available, ...made, ...bound], made: [] };
}

/** `def @same<A>(%x: A) -> A { %x }` */
function identity(): FunctionExpr {
  const type: Type = { kind: 'type-var', name: 'A' };
  const x = variableOf('x', type);
  return polymorphic(['A'], func([x], x), type);
}
