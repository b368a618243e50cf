import { isUnknownDim, sameDim } from '../../../core/dims/dim-symbols.ts';
import type { DType } from '../../../core/tensor/dtype.ts';
import { GraphBuilder } from '../../../ops/adjoint/graph-builder.ts';
import type { GraphTensor } from '../../../ops/adjoint/graph-target.ts';
import { isFloat } from '../../../ops/elementwise/number-dtypes.ts';
import type { TypeInference } from '../../inference/type-inference.ts';
import { callFunction, func, global, projection, tuple, variableOf } from '../../ir/build.ts';
import type { Expr, FunctionExpr, Pattern, VarExpr } from '../../ir/expr.ts';
import {
  type AdtTypeNode,
  type TensorTypeNode,
  type Type,
  type TypeDefinition,
  withParts,
} from '../../ir/type.ts';
import { Emitter } from './emitter.ts';
import { exprOf } from '../../inference/expr-tensor.ts';
import { ExprGraph } from './expr-graph.ts';
import { unusedName } from './unused-name.ts';

/** Functions that make zeros of values begin with this, and have no derivative. */
export const ZERO_PREFIX = 'gradient.zero.';

/** Functions that add values begin with this. */
export const SUM_PREFIX = 'gradient.sum.';

interface ValuesContext {
  readonly types: TypeInference;
  readonly definitions: ReadonlyMap<string, TypeDefinition>;
  /** Global functions of the program, to which those for data types are added. */
  readonly functions: Map<string, FunctionExpr>;
}

/** Zeros and sums of cotangents of any type. */
export class TypedValues {
  readonly #types: TypeInference;
  readonly #definitions: ReadonlyMap<string, TypeDefinition>;
  readonly #functions: Map<string, FunctionExpr>;
  readonly #made = new Map<string, string>();
  /** Definitions of data types that hold floats, or may. */
  readonly #floating = new Map<string, boolean>();

  constructor({ types, definitions, functions }: ValuesContext) {
    this.#types = types;
    this.#definitions = definitions;
    this.#functions = functions;
  }

  /**
   * Returns true if values of a type hold floats, or may: it is not known what a type parameter
   * stands for.
   */
  hasFloats(type: Type): boolean {
    const inside = (part: Type): boolean => this.hasFloats(part);
    switch (type.kind) {
      case 'tensor':
        return isFloat(type.dtype);
      case 'tuple':
        return type.fields.some(inside);
      case 'adt':
        return type.args.some(inside) || this.#defines(type.name);
      case 'type-var':
        return true;
      default:
        return false;
    }
  }

  /**
   * Returns true if cotangents of a type are more than `()`. Those of tuples and data always are:
   * they keep their other fields.
   */
  hasCotangent(type: Type): boolean {
    return type.kind === 'adt' || type.kind === 'tuple' || this.hasFloats(type);
  }

  /** Returns true if a data type holds floats, whatever its parameters stand for. */
  #defines(name: string): boolean {
    const known = this.#floating.get(name);
    if (known !== undefined) return known;
    const reached = new Set([name]);
    let found = false;
    // A set yields what is added while it is walked.
    for (const one of reached) {
      const fields = (this.#definitions.get(one)?.constructors ?? []).flatMap((own) => own.fields);
      const parts = fields.flatMap(partsWithin);
      found ||= parts.some((part) => part.kind === 'tensor' && isFloat(part.dtype));
      for (const part of parts) if (part.kind === 'adt') reached.add(part.name);
    }
    this.#floating.set(name, found);
    return found;
  }

  /** The types of the fields of a constructor of an applied data type. */
  fieldTypes({ name, args }: AdtTypeNode, constructor: string): readonly Type[] {
    const definition = this.#definitions.get(name);
    const found = definition?.constructors.find((candidate) => candidate.name === constructor);
    const params = definition?.params ?? [];
    const given = new Map(params.map((param, i) => [param, args[i] ?? UNIT]));
    return (found?.fields ?? []).map((type) => substituteTypes(type, given));
  }

  zero(value: Expr, type: Type, emitter: Emitter): Expr {
    if (type.kind === 'tuple') {
      const fields = type.fields.map((field, i) =>
        this.hasCotangent(field)
          ? this.zero(this.field(value, i, emitter), field, emitter)
          : tuple([]),
      );
      return tuple(fields);
    }
    return type.kind === 'adt' || this.hasFloats(type)
      ? this.#cleared(value, type, emitter)
      : tuple([]);
  }

  /** A field of a tuple, without a projection where the tuple stands there. */
  field(value: Expr, index: number, emitter: Emitter): Expr {
    const field = value.kind === 'tuple' ? value.fields[index] : undefined;
    return field ?? emitter.bind(projection(value, index));
  }

  /** The sum of two cotangents of a value of a type. */
  sum(a: Expr, b: Expr, { type, emitter }: { type: Type; emitter: Emitter }): Expr {
    switch (type.kind) {
      case 'tensor': {
        if (!isFloat(type.dtype)) return a;
        const graph = this.#graph(emitter);
        // Sizes under other names would make a broadcast of it.
        const [left, right] = [a, b].map((term) => graph.of(this.conform(term, type, emitter)));
        return left && right ? exprOf(graph.builder.add(left, right)) : a;
      }
      case 'tuple':
        return tuple(
          type.fields.map((field, i) =>
            this.sum(this.field(a, i, emitter), this.field(b, i, emitter), {
              type: field,
              emitter,
            }),
          ),
        );
      case 'adt':
        return emitter.bind(this.#callOf(SUM_PREFIX, type, [...this.#elements('sum', type), a, b]));
      default:
        return a;
    }
  }

  /** A cotangent whose tensors have the dimensions of a type, which are the same numbers. */
  conform(value: Expr, type: Type, emitter: Emitter): Expr {
    if (type.kind === 'tuple') {
      if (fitsSizes(this.#types.of(value), type)) return value;
      return tuple(
        type.fields.map((field, i) => this.conform(this.field(value, i, emitter), field, emitter)),
      );
    }
    if (type.kind !== 'tensor' || !isFloat(type.dtype)) return value;
    if (fitsSizes(this.#types.of(value), type)) return value;
    const { builder, of } = this.#graph(emitter);
    const tensor = of(type.shape.some(isUnknownDim) ? emitter.named(value) : value);
    const shape = type.shape.map((dim, axis) =>
      isUnknownDim(dim) ? (tensor.shape[axis] ?? dim) : dim,
    );
    return exprOf(builder.reshape(tensor, shape));
  }

  /** A cotangent as a field of data, where what is no float keeps its value. */
  toData(cotangent: Expr, primal: Expr, { type, emitter }: { type: Type; emitter: Emitter }): Expr {
    if (type.kind === 'tuple') {
      return tuple(
        type.fields.map((field, i) =>
          this.toData(this.field(cotangent, i, emitter), this.field(primal, i, emitter), {
            type: field,
            emitter,
          }),
        ),
      );
    }
    const isOwn = type.kind === 'adt' || type.kind === 'type-var' || this.hasFloats(type);
    return isOwn ? cotangent : primal;
  }

  fromData(field: Expr, type: Type, emitter: Emitter): Expr {
    if (type.kind === 'tuple') {
      return tuple(
        type.fields.map((part, i) => this.fromData(this.field(field, i, emitter), part, emitter)),
      );
    }
    const isOwn = type.kind === 'adt' || type.kind === 'type-var' || this.hasFloats(type);
    return isOwn ? field : tuple([]);
  }

  #graph(emitter: Emitter): { builder: GraphBuilder; of: (expr: Expr) => GraphTensor } {
    const target = new ExprGraph(this.#types, emitter);
    return { builder: new GraphBuilder(target), of: (expr) => target.tensor(expr) };
  }

  /** The value with zeros in place of floats; all else stays. */
  #cleared(value: Expr, type: Type, emitter: Emitter): Expr {
    if (!this.hasFloats(type)) return value;
    switch (type.kind) {
      case 'tensor':
        return this.#zeros(value, type, emitter);
      case 'tuple':
        return tuple(
          type.fields.map((field, i) =>
            this.#cleared(this.field(value, i, emitter), field, emitter),
          ),
        );
      case 'adt':
        return emitter.bind(
          this.#callOf(ZERO_PREFIX, type, [...this.#elements('zero', type), value]),
        );
      default:
        return value;
    }
  }

  #zeros(value: Expr, { dtype, shape }: TensorTypeNode, emitter: Emitter): Expr {
    if (!shape.some(isUnknownDim)) {
      return exprOf(this.#graph(emitter).builder.full(shape, dtype));
    }
    return emitter.bind(callFunction(this.#tensorFunction('zero', dtype, shape.length), [value]));
  }

  /** A function for tensors whose dimensions have no names at the place of the call. */
  #tensorFunction(kind: 'zero' | 'sum', dtype: DType, rank: number): Expr {
    const prefix = kind === 'zero' ? ZERO_PREFIX : SUM_PREFIX;
    const name = this.#nameOf(`${prefix}${dtype}.${rank}`);
    if (!this.#functions.has(name)) {
      const shape = Array.from({ length: rank }, (_, axis) => `d${axis}`);
      const type: Type = { kind: 'tensor', dtype, shape };
      const params = (kind === 'zero' ? ['x'] : ['a', 'b']).map((of) => variableOf(of, type));
      const [a, b] = params;
      const emitter = this.#newEmitter();
      const result =
        a === undefined
          ? tuple([])
          : b === undefined
            ? this.#zeros(a, { ...type, kind: 'tensor' }, emitter)
            : this.sum(a, b, { type, emitter });
      this.#functions.set(name, { ...func(params, emitter.around(result)), resultType: type });
    }
    return global(name);
  }

  /** Functions for the type arguments of a data type. */
  #elements(kind: 'zero' | 'sum', { args }: AdtTypeNode): readonly Expr[] {
    return args.map((type) => this.#elementFunction(kind, type));
  }

  #elementFunction(kind: 'zero' | 'sum', type: Type): Expr {
    if (type.kind === 'type-var') return this.#param(kind, type.name);
    const emitter = this.#newEmitter();
    const params = (kind === 'zero' ? ['x'] : ['a', 'b']).map((name) => variableOf(name, type));
    const [a, b] = params;
    if (a === undefined) throw new Error('internal: an element function without parameters');
    const body =
      b === undefined ? this.#element(a, type, emitter) : this.#elementSum([a, b], type, emitter);
    return { ...func(params, emitter.around(body)), resultType: type };
  }

  #element(value: Expr, type: Type, emitter: Emitter): Expr {
    if (type.kind !== 'type-var') return this.#cleared(value, type, emitter);
    return emitter.bind(callFunction(this.#param('zero', type.name), [value]), 'z', type);
  }

  #elementSum([a, b]: readonly [Expr, Expr], type: Type, emitter: Emitter): Expr {
    if (type.kind === 'type-var') {
      return emitter.bind(callFunction(this.#param('sum', type.name), [a, b]), 's', type);
    }
    if (type.kind === 'tensor' && isFloat(type.dtype) && type.shape.some(isUnknownDim)) {
      const add = this.#tensorFunction('sum', type.dtype, type.shape.length);
      return emitter.bind(callFunction(add, [a, b]), 's', type);
    }
    return this.sum(a, b, { type, emitter });
  }

  /** Parameters of the functions for a data type, by the names of its type parameters. */
  readonly #params = new Map<string, VarExpr>();

  #param(kind: 'zero' | 'sum', name: string): VarExpr {
    const found = this.#params.get(`${kind} ${name}`);
    if (found === undefined) throw new Error(`internal: no function for ${name}`);
    return found;
  }

  /** Its own name for what is made: what other derivatives have made may know functions as such that are data now. */
  #nameOf(wanted: string): string {
    const known = this.#made.get(wanted);
    if (known !== undefined) return known;
    const name = unusedName(wanted, this.#functions);
    this.#made.set(wanted, name);
    return name;
  }

  #newEmitter(): Emitter {
    return new Emitter(this.#types);
  }

  #callOf(prefix: string, type: AdtTypeNode, args: readonly Expr[]): Expr {
    const made = callFunction(this.#dataFunction(prefix, type), args);
    return type.args.length === 0 ? made : { ...made, typeArguments: type.args };
  }

  /** `@gradient.zero.List<A>(%A: fn (A) -> A, %x: List[A]) -> List[A]`, or that of a sum. */
  #dataFunction(prefix: string, { name: typeName }: AdtTypeNode): Expr {
    const name = this.#nameOf(`${prefix}${typeName}`);
    if (this.#functions.has(name)) return global(name);
    const definition = this.#definitions.get(typeName);
    if (definition === undefined) throw new Error(`internal: no type ${typeName}`);
    const kind = prefix === ZERO_PREFIX ? 'zero' : 'sum';
    const own: AdtTypeNode = {
      kind: 'adt',
      name: typeName,
      args: definition.params.map((param): Type => ({ kind: 'type-var', name: param })),
    };
    const values = (kind === 'zero' ? ['x'] : ['a', 'b']).map((of) => variableOf(of, own));
    const elements = definition.params.map((param) => {
      const type: Type = { kind: 'type-var', name: param };
      return variableOf(param, { kind: 'function', params: values.map(() => type), result: type });
    });
    const signature = {
      ...func([...elements, ...values], tuple([])),
      resultType: own,
      ...(definition.params.length === 0 ? {} : { typeParams: definition.params }),
    };
    this.#functions.set(name, signature);
    const outer = new Map(this.#params);
    for (const [i, param] of definition.params.entries()) {
      const element = elements[i];
      if (element !== undefined) this.#params.set(`${kind} ${param}`, element);
    }
    const body = this.#dataBody(definition, own, values);
    this.#params.clear();
    for (const [key, param] of outer) this.#params.set(key, param);
    this.#functions.set(name, { ...signature, body });
    return global(name);
  }

  #dataBody({ constructors }: TypeDefinition, own: AdtTypeNode, values: readonly VarExpr[]): Expr {
    const [first, second] = values;
    if (first === undefined) throw new Error('internal: no value');
    const clauses = constructors.map(({ name, fields }) => {
      const emitter = this.#newEmitter();
      const variables = values.map(({ name: of }) =>
        fields.map((type, i) => variableOf(`${of}${i}`, type)),
      );
      const [as = [], bs] = variables;
      const parts = as.map((a, i) => {
        const type = fields[i] ?? UNIT;
        const b = bs?.[i];
        return b === undefined
          ? this.#element(a, type, emitter)
          : this.#elementSum([a, b], type, emitter);
      });
      const made = construct(name, own, parts);
      const patterns = variables.map(
        (of): Pattern => ({
          kind: 'constructor-pattern',
          constructor: name,
          fields: of.map((variable) => ({ kind: 'var-pattern', variable })),
        }),
      );
      const [only = { kind: 'wildcard' as const }] = patterns;
      const pattern: Pattern =
        second === undefined ? only : { kind: 'tuple-pattern', fields: patterns };
      return { pattern, body: emitter.around(made) };
    });
    const outer = this.#newEmitter();
    const value = second === undefined ? first : outer.bind(tuple([first, second]));
    return outer.around({ kind: 'match', value, clauses, complete: second === undefined });
  }
}

/** A value of an applied data type. */
export function construct(name: string, { args }: AdtTypeNode, fields: readonly Expr[]): Expr {
  const made = callFunction({ kind: 'constructor', name }, fields);
  return args.length === 0 ? made : { ...made, typeArguments: args };
}

/**
 * Returns true if tensors in a cotangent have the dimensions that a type names. A `()` in place of
 * a tensor has none.
 */
function fitsSizes(own: Type, type: Type): boolean {
  if (own.kind === 'tuple' && type.kind === 'tuple') {
    return own.fields.every((field, i) => fitsSizes(field, type.fields[i] ?? field));
  }
  if (own.kind !== 'tensor' || type.kind !== 'tensor') return true;
  return type.shape.every((dim, axis) => isUnknownDim(dim) || sameDim(own.shape[axis] ?? dim, dim));
}

/** A type and those of its fields, to any depth. */
function partsWithin(type: Type): readonly Type[] {
  if (type.kind === 'tuple') return type.fields.flatMap(partsWithin);
  return type.kind === 'adt' ? [type, ...type.args.flatMap(partsWithin)] : [type];
}

const UNIT: Type = { kind: 'tuple', fields: [] };

/** A type with others in place of type parameters. */
export function substituteTypes(type: Type, given: ReadonlyMap<string, Type>): Type {
  if (type.kind === 'type-var') return given.get(type.name) ?? type;
  return withParts(type, (part) => substituteTypes(part, given));
}
