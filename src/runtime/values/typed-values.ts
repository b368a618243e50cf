import type {
  BytecodeFunction,
  DataConstructor,
  FullType,
  NamedFunctionType,
  ProgramTypes,
} from '../../bytecode/executable.ts';
import { formatFullType } from '../../bytecode/text/format-full-type.ts';
import { RuntimeError } from '../../core/errors.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { OpaqueValue } from '../../core/contracts/opaque-value.ts';
import { formatShape } from '../../core/tensor/shape.ts';
import {
  adaptHostFunction,
  type ConvertResult,
  type HostData,
  type HostFunction,
  type HostResult,
  toValue,
} from '../link/host-function.ts';
import { fits } from '../kernel-arguments.ts';
import {
  AdtValue,
  ClosureValue,
  describeValue,
  discard,
  FloatValue,
  isValue,
  PackedFunctionValue,
  ShapeValue,
  TensorValue,
  type Value,
} from './value.ts';
import type { VmState } from '../vm-state.ts';

type AdtType = Extract<FullType, { readonly kind: 'adt' }>;

export type FunctionType = Extract<FullType, { readonly kind: 'function' }>;

function isFunction(value: Value | undefined): value is ClosureValue | PackedFunctionValue {
  return value instanceof ClosureValue || value instanceof PackedFunctionValue;
}

/** Fields of a tuple or of data that are converted one after the other. */
interface OpenFields {
  readonly tag: number;
  readonly types: readonly FullType[];
  readonly inputs: readonly HostResult[];
  readonly done: Value[];
  /** The value that has these fields already, if it is one of a machine. */
  readonly whole: AdtValue | undefined;
}

/**
 * Converts values between a program and JavaScript, by the types that the program declares. A named
 * dimension stands for one number in all values of a call.
 */
export class TypedValues {
  readonly #constructors = new Map<string, readonly DataConstructor[]>();
  readonly #params = new Map<string, readonly string[]>();
  /** Fields of the constructors of an applied type, by tag. */
  readonly #fields = new Map<AdtType, Map<number, readonly FullType[]>>();

  constructor({ dataTypes }: ProgramTypes) {
    for (const { name, params, constructors } of dataTypes) {
      this.#constructors.set(name, constructors);
      this.#params.set(name, params);
    }
  }

  /** The constructor of an applied type that a tag stands for, with the types of its fields. */
  constructorOf(
    type: AdtType,
    tag: number,
  ): { readonly name: string; readonly fields: readonly FullType[] } | undefined {
    const found = this.#constructors.get(type.name)?.find((one) => one.tag === tag);
    return found && { name: found.name, fields: this.#fieldsOf(type, found) };
  }

  /**
   * The value that JavaScript gave for a type; a new one has no reference yet. Iterative, because lists are
   * nested as deep as they are long. Throws RuntimeError for what is of another type.
   */
  toValue(root: HostResult, rootType: FullType, { where, state, sizes }: TypedContext): Value {
    const stack: OpenFields[] = [];
    let result: Value | undefined;
    const finish = (value: Value): void => {
      const open = stack.at(-1);
      if (open === undefined) result = value;
      else open.done.push(value);
    };
    const enter = (input: HostResult, type: FullType): void => {
      const open = this.#open(input, type, where);
      if (open === undefined) finish(leafValue(input, type, { values: this, where, state, sizes }));
      else stack.push(open);
    };
    try {
      enter(root, rootType);
      for (let open = stack.at(-1); open !== undefined; open = stack.at(-1)) {
        const next = open.done.length;
        const type = open.types[next];
        if (type !== undefined) {
          enter(open.inputs[next], type);
          continue;
        }
        stack.pop();
        const isSame = open.whole?.fields.every((field, i) => field === open.done[i]) === true;
        finish(open.whole && isSame ? open.whole : new AdtValue(open.tag, open.done, state.fields));
      }
    } catch (error) {
      for (const { done } of stack) for (const value of done) discard(value);
      throw error;
    }
    return result ?? null;
  }

  /** A function of JavaScript as a value of a type, which what it gives is checked against. */
  functionValue(call: HostFunction, { params, result }: FunctionType, state: VmState): Value {
    const name = call.name === '' ? 'function' : call.name;
    const convert = resultConverter(this, { name, params, result }, state);
    return new PackedFunctionValue(name, adaptHostFunction(name, call, state, convert));
  }

  /** The fields of a tuple or of data; undefined for other types. */
  #open(input: HostResult, type: FullType, where: string): OpenFields | undefined {
    if (type.kind === 'tuple') {
      const inputs = input instanceof AdtValue ? input.fields : input;
      if (!Array.isArray(inputs) || inputs.length !== type.fields.length) {
        throw wrongValue(input, type, where);
      }
      return { tag: 0, types: type.fields, inputs, done: [], whole: adtOf(input) };
    }
    if (type.kind !== 'adt') return undefined;
    const constructors = this.#constructors.get(type.name) ?? [];
    const isOne = ({ name, tag }: DataConstructor): boolean =>
      input instanceof AdtValue ? input.tag === tag : isData(input) && input.constructor === name;
    const found = constructors.find(isOne);
    const inputs = input instanceof AdtValue || isData(input) ? input.fields : [];
    if (found === undefined || inputs.length !== found.fields.length) {
      const names = constructors.map(({ name, fields }) => `${name} of ${fields.length} fields`);
      throw wrongValue(input, type, where, `{ constructor, fields }: ${names.join(' or ')}`);
    }
    const types = this.#fieldsOf(type, found);
    return { tag: found.tag, types, inputs, done: [], whole: adtOf(input) };
  }

  #fieldsOf(type: AdtType, { tag, fields }: DataConstructor): readonly FullType[] {
    let known = this.#fields.get(type);
    if (known === undefined) this.#fields.set(type, (known = new Map()));
    const types = known.get(tag) ?? this.#applied(type, fields);
    known.set(tag, types);
    return types;
  }

  /** The types of fields for the arguments of a type. The type itself stays the same object. */
  #applied(type: AdtType, fields: readonly FullType[]): FullType[] {
    const params = this.#params.get(type.name) ?? [];
    const args = new Map(params.map((name, i) => [name, type.args[i] ?? ANY]));
    const apply = (field: FullType): FullType => {
      switch (field.kind) {
        case 'type-param':
          return args.get(field.name) ?? ANY;
        case 'tuple':
          return { kind: 'tuple', fields: field.fields.map(apply) };
        case 'function':
          return { ...field, params: field.params.map(apply), result: apply(field.result) };
        case 'adt': {
          const applied = field.args.map(apply);
          const isSame =
            field.name === type.name && applied.every((arg, i) => arg === type.args[i]);
          return isSame ? type : { ...field, args: applied };
        }
        default:
          return field;
      }
    };
    return fields.map(apply);
  }
}

/**
 * The constructors of the data in a value, an empty text for each tuple, and the types of functions. Iterative, for
 * long lists.
 */
export function constructorNames(
  values: TypedValues,
  root: Value,
  rootType: FullType,
  names: Map<Value, string>,
  functions?: Map<Value, FunctionType>,
): void {
  const stack: { readonly value: Value; readonly type: FullType }[] = [
    { value: root, type: rootType },
  ];
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    const { value, type } = top;
    if (type.kind === 'function' && isFunction(value)) functions?.set(value, type);
    if (!(value instanceof AdtValue) || names.has(value)) continue;
    const known =
      type.kind === 'tuple'
        ? { name: '', fields: type.fields }
        : type.kind === 'adt' && values.constructorOf(type, value.tag);
    if (!known) continue;
    names.set(value, known.name);
    for (const [i, field] of known.fields.entries()) {
      const inner = value.fields[i];
      if (inner instanceof AdtValue || isFunction(inner)) stack.push({ value: inner, type: field });
    }
  }
}

interface TypedContext {
  /** Names the result or argument in messages. */
  readonly where: string;
  readonly state: VmState;
  /** Sizes by the names of dimensions; learns those that it does not have. */
  readonly sizes: Map<string, number>;
}

const ANY: FullType = { kind: 'any' };

function adtOf(input: HostResult): AdtValue | undefined {
  return input instanceof AdtValue ? input : undefined;
}

function isData(input: HostResult): input is HostData {
  return (
    typeof input === 'object' &&
    input !== null &&
    'constructor' in input &&
    typeof input.constructor === 'string'
  );
}

/** A value that has no fields by its type. */
function leafValue(
  input: HostResult,
  type: FullType,
  { values, where, state, sizes }: TypedContext & { readonly values: TypedValues },
): Value {
  if (type.kind === 'function' && typeof input === 'function') {
    return values.functionValue(input, type, state);
  }
  const value = toValue(input, where, state);
  if (type.kind === 'float' && typeof value === 'number') return new FloatValue(value);
  const isShape = type.kind === 'shape' && value instanceof AdtValue;
  const dims = isShape ? value.fields.filter((field) => typeof field === 'number') : [];
  if (isShape && dims.length === value.fields.length) return new ShapeValue(dims);
  if (hasType(value, type, sizes)) return value;
  if (!isValue(input)) discard(value);
  throw wrongValue(input, type, where, undefined, sizes);
}

function hasType(value: Value, type: FullType, sizes: Map<string, number>): boolean {
  switch (type.kind) {
    case 'tensor':
      return value instanceof TensorValue && fits(value, type, sizes);
    case 'int':
      return typeof value === 'number';
    case 'float':
      return value instanceof FloatValue;
    case 'shape':
      return value instanceof ShapeValue;
    case 'function':
      return isFunction(value);
    case 'opaque':
      return value instanceof OpaqueValue && value.name === type.name;
    default:
      return true;
  }
}

function wrongValue(
  input: HostResult,
  type: FullType,
  where: string,
  wanted?: string,
  sizes?: ReadonlyMap<string, number>,
): RuntimeError {
  const known = type.kind === 'tensor' ? (sizes ?? []) : [];
  const bound = Array.from(known, ([name, size]) => `${name} is ${size}`).join(', ');
  const text = formatFullType(type);
  return new RuntimeError({
    where,
    got: describeInput(input),
    expected: `${text}${bound === '' ? '' : ` where ${bound}`}${wanted === undefined ? '' : `, ${wanted}`}`,
  });
}

function describeInput(input: HostResult): string {
  if (input === undefined) return 'nothing';
  if (input instanceof HostTensor) return `${input.dtype} tensor ${formatShape(input.shape)}`;
  if (Array.isArray(input)) return `an array of ${input.length}`;
  if (isData(input)) return `${input.constructor} of ${input.fields.length} fields`;
  if (typeof input === 'number' && !Number.isSafeInteger(input)) return `float ${input}`;
  if (typeof input === 'boolean') return String(input);
  if (isValue(input)) return describeValue(input);
  return `a ${typeof input}`;
}

/** The border of a program whose types are known in full. */
export interface TypedBorder {
  /**
   * The function that checks and converts the results of each packed function of a type, by its
   * name.
   */
  readonly converters: ReadonlyMap<string, ConvertResult>;
  /** Arguments of a function that is a value, as JavaScript gave them. Throws RuntimeError. */
  arguments(type: FunctionType, inputs: readonly HostResult[]): Value[];
  /** An argument of a function as JavaScript gave it; undefined where its type has no fields. */
  argument(callee: BytecodeFunction, index: number, input: HostResult): Value | undefined;
}

export function typedBorder(types: ProgramTypes, state: VmState): TypedBorder {
  const values = new TypedValues(types);
  const functions = new Map(types.functions.map((type) => [type.name, type]));
  const converters = new Map(
    types.packed.map((type) => [type.name, resultConverter(values, type, state)]),
  );
  return {
    converters,
    arguments({ params }, inputs) {
      if (inputs.length !== params.length) {
        const [got, expected] = [`${inputs.length} arguments`, String(params.length)];
        throw new RuntimeError({ where: 'function', got, expected });
      }
      const sizes = new Map<string, number>();
      const done: Value[] = [];
      try {
        for (const [i, type] of params.entries()) {
          const where = `function, argument ${i}`;
          done.push(values.toValue(inputs[i], type, { where, state, sizes }));
        }
      } catch (error) {
        for (const value of done) discard(value);
        throw error;
      }
      return done;
    },
    argument({ name, paramNames }, index, input) {
      const type = functions.get(name)?.params[index];
      if (type === undefined || !isConverted(type) || input instanceof AdtValue) return undefined;
      const where = `${name}, parameter ${paramNames[index] ?? index}`;
      return values.toValue(input, type, { where, state, sizes: new Map() });
    },
  };
}

/** Returns true for types whose values a caller gives in a form of its own. */
function isConverted({ kind }: FullType): boolean {
  switch (kind) {
    case 'tuple':
    case 'adt':
    case 'function':
    case 'opaque':
      return true;
    case 'tensor':
    case 'int':
    case 'float':
    case 'shape':
    case 'any':
    case 'type-param':
      return false;
    default:
      return kind satisfies never;
  }
}

/** Names of dimensions are those of the arguments. */
function resultConverter(
  values: TypedValues,
  { name, params, result }: NamedFunctionType,
  state: VmState,
): ConvertResult {
  const where = `result of ${name}`;
  return (given, args) => {
    const sizes = new Map<string, number>();
    for (const [i, type] of params.entries()) {
      const arg = args[i];
      // They have their types: this tells the names of their dimensions.
      if (type.kind === 'tensor' && arg instanceof TensorValue) fits(arg, type, sizes);
    }
    return values.toValue(given, result, { where, state, sizes });
  };
}
