import { budgetInForce } from '../../compiler/ir/compile-budget.ts';
import { call, constant, variable } from '../../compiler/ir/build.ts';
import type { Expr, Span } from '../../compiler/ir/expr.ts';
import { tensorType, type Type } from '../../compiler/ir/type.ts';
import { isOperatorCall } from '../../compiler/ir/operators/operator-name.ts';
import type { TypeInference } from '../../compiler/inference/type-inference.ts';
import { evaluateSymbolicCall } from '../../compiler/values/evaluate-symbolic-call.ts';
import { SymbolicTensor } from '../../compiler/values/symbolic-tensor.ts';
import { isTooLong } from '../../core/dims/dim-length.ts';
import { type Dim, formatDim } from '../../core/dims/dim.ts';
import { type DType, dtypeInfo } from '../../core/tensor/dtype.ts';
import { FormatError, UnsupportedError } from '../../core/errors.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { Attributes, TensorType } from '../../core/contracts/primitive-function.ts';
import { formatShape, type Shape } from '../../core/tensor/shape.ts';
import { isSmallFloat, smallFloatToNumber } from '../../core/tensor/small-floats.ts';
import { SymbolicDims } from '../../core/dims/symbolic-dims.ts';
import { hasSymbols } from '../../ops/attributes.ts';
import type { Operator } from '../../ops/operator.ts';
import type { NodeAttributes } from './attributes.ts';
import {
  asData,
  closedType,
  type Composite,
  type CompositeSource,
  dataTypeOf,
} from './composite-values.ts';
import { foldIntegerCall } from './sizes/fold-integer-call.ts';
import type { Block } from './graph-scope.ts';
import { hostInteger } from './sizes/host-integer.ts';
import type { ImportContext, ShapeValues } from './import-context.ts';
import { withKnownSizes } from './sizes/known-sizes.ts';
import type { Subgraph } from './model/subgraph.ts';
import type { Fork } from './paths/paths.ts';

/**
 * Turns one ONNX node into expressions, one for each of its outputs that can be used; or splits the way
 * of the program where these differ in rank.
 */
export type NodeImporter = (node: ImportNode) => Expr | readonly (Expr | undefined)[] | Fork;

export interface ImportNodeOptions {
  readonly opType: string;
  /** `node "name" (Conv)`, for messages. */
  readonly where: string;
  readonly span: Span;
  /** Version of the node's operator set. */
  readonly opset: number;
  readonly attributes: NodeAttributes;
  readonly inputs: readonly (Expr | undefined)[];
  readonly outputCount: number;
  readonly types: TypeInference;
  readonly shapeValues: ShapeValues;
  readonly context: ImportContext;
  /** Where the node is computed: what is bound here is computed before what follows. */
  readonly block: Block;
  /** A graph among the attributes. Throws FormatError where there is none. */
  readonly subgraph: (attribute: string) => Subgraph;
}

/** A node of the source model, as an importer function sees it. */
export class ImportNode {
  readonly opType: string;
  readonly where: string;
  readonly opset: number;
  readonly attributes: NodeAttributes;
  readonly inputs: readonly (Expr | undefined)[];
  readonly outputCount: number;
  readonly context: ImportContext;
  readonly block: Block;
  readonly subgraph: (attribute: string) => Subgraph;
  readonly span: Span;
  readonly #types: TypeInference;
  readonly #shapeValues: ShapeValues;
  /** Arithmetic on dimensions. What operators require of them is found again when they are called. */
  readonly dims = new SymbolicDims();

  constructor(options: ImportNodeOptions) {
    this.opType = options.opType;
    this.where = options.where;
    this.opset = options.opset;
    this.attributes = options.attributes;
    this.inputs = options.inputs;
    this.outputCount = options.outputCount;
    this.context = options.context;
    this.block = options.block;
    this.subgraph = options.subgraph;
    this.span = options.span;
    this.#types = options.types;
    this.#shapeValues = options.shapeValues;
  }

  /** A required input. Throws FormatError when the node leaves it out. */
  input(index: number): Expr {
    const input = this.inputs[index];
    if (input !== undefined) return input;
    throw new FormatError({
      where: this.where,
      got: `no input ${index}`,
      expected: `an input there for ${this.opType} of opset ${this.opset}`,
    });
  }

  /** All inputs of a variadic operator, at least one. */
  allInputs(): Expr[] {
    return this.inputs.length === 0
      ? [this.input(0)]
      : this.inputs.map((_, index) => this.input(index));
  }

  type(expr: Expr): TensorType {
    const type = this.#types.of(expr);
    if (type.kind === 'tensor') return type;
    const [got, remedy] =
      type.kind === 'scalar'
        ? ['a tensor whose rank only the running program knows', UNRANKED_REMEDY]
        : [type.kind === 'adt' && type.name === 'Option' ? 'an optional value' : 'a sequence'];
    throw this.unsupported(`${got} as an operand`, 'a tensor', remedy);
  }

  /** A sequence or an optional value that the importer knows. */
  composite(expr: Expr): Composite | undefined {
    return this.context.composites.get(expr);
  }

  /** An expression for a sequence or an optional value that the importer knows. */
  compositeResult(composite: Composite): Expr {
    return this.context.compositeResult(composite);
  }

  /** The type that a value has as data; where nothing tells the type of a part, that is open. */
  dataType(expr: Expr): Type {
    return dataTypeOf(expr, this.#composites());
  }

  /** A value as data of this type, or of its own. */
  data(expr: Expr, type: Type = closedType(this.dataType(expr))): Expr {
    if (type.kind === 'adt') this.context.useLists();
    return asData(expr, type, this.#composites());
  }

  #composites(): CompositeSource {
    return {
      composites: this.context.composites,
      typeOf: (value) => this.#types.of(value),
      tensor: (value) => this.tensor(value),
    };
  }

  shape(expr: Expr): readonly Dim[] {
    return this.type(expr).shape;
  }

  /** A dimension that importing needs as a number. Throws UnsupportedError for a symbol. */
  number(dim: Dim, what: string): number {
    if (typeof dim === 'number') return dim;
    throw this.unsupported(
      `${formatDim(dim)} as ${what}`,
      'a number at compile time',
      typeof dim === 'string' ? `Bind it: --dim ${dim}=1, or dims: { "${dim}": 1 }.` : undefined,
    );
  }

  /** Dimensions as numbers; see {@link number}. */
  numbers(dims: readonly Dim[], what: string): number[] {
    return dims.map((dim) => this.number(dim, what));
  }

  /** The value of a constant input, undefined when it is left out. Throws UnsupportedError if computed. */
  constantInput(index: number, what: string): HostTensor | undefined {
    const input = this.inputs[index];
    if (input === undefined) return undefined;
    if (input.kind === 'constant') return input.value;
    const value = this.#shapeValues.get(input);
    if (value !== undefined) this.numbers(value.elements, what);
    throw this.unsupported(`${what} that are computed while the model runs`, 'constants');
  }

  /** A constant input of integers. */
  intsInput(index: number, what: string): number[] | undefined {
    const tensor = this.constantInput(index, what);
    if (tensor === undefined) return undefined;
    if (tensor.elementCount > MAX_INTEGERS) {
      throw this.unsupported(`${tensor.elementCount} ${what}`, `at most ${MAX_INTEGERS}`);
    }
    return saturatedNumbers(tensor.data);
  }

  /**
   * An input of integers as dimensions: constants, arithmetic of dimensions, or numbers from 0 up
   * that only the running program knows, which it reads before what follows.
   */
  dimsInput(index: number, what: string): readonly Dim[] | undefined {
    const input = this.inputs[index];
    const value = input && this.shapeValue(input);
    if (value !== undefined) return value.elements;
    const isComputed = input !== undefined && input.kind !== 'constant';
    return isComputed ? this.readSizes('sizes', input, { what }) : this.intsInput(index, what);
  }

  /**
   * The parameter of the program whose elements an expression has, in their order, where every call comes
   * by here.
   */
  parameterOf(expr: Expr): number | undefined {
    if (!this.block.isAlwaysReached) return undefined;
    let source = expr;
    while (isOperatorCall(source)) {
      const [arg] = source.args;
      if (arg === undefined || !this.#keepsIntegers(source.callee.name, arg)) return undefined;
      source = arg;
    }
    const parameter = this.context.inputs.findIndex((input) => input === source);
    return parameter < 0 ? undefined : parameter;
  }

  #keepsIntegers(operator: string, arg: Expr): boolean {
    if (operator === 'reshape') return true;
    const { dtype } = this.type(arg);
    return operator === 'cast' && (dtype === 'int32' || dtype === 'int64');
  }

  /** Returns true if an input is a tensor whose elements are known only when the program runs. */
  isComputed(index: number): boolean {
    const input = this.inputs[index];
    if (input === undefined || input.kind === 'constant') return false;
    return this.shapeValue(input) === undefined;
  }

  /**
   * Dimensions that an operator such as `reshape_sizes` makes of integers which only the running
   * program knows. What the operator does not accept is an error of the node when it runs.
   */
  readSizes(op: string, integers: Expr, { what, ...attributes }: SizesOptions): readonly Dim[] {
    const { dtype, shape } = this.type(integers);
    if (shape.length > 1 || shape.some((dim) => typeof dim !== 'number')) {
      throw this.unsupported(
        `${what} ${formatShape(shape.map(formatDim))}, which only the running model knows`,
        'a list of known length, because the rank of tensors must be known',
        'Make it a constant of the model.',
      );
    }
    const where = `${this.where}, ${what}`;
    const isInteger = dtype === 'int64' || dtype === 'int32';
    const list = isInteger ? integers : this.call('cast', [integers], { to: 'int64' });
    const sizes = this.shape(this.call(op, [list], { where, ...attributes })).slice(1);
    const parameter = op === 'sizes' ? this.parameterOf(integers) : undefined;
    for (const [element, size] of parameter === undefined ? [] : sizes.entries()) {
      if (typeof size === 'string') this.context.indexChecks.addSize(size, parameter ?? 0, element);
    }
    return withKnownSizes({ op, sizes, known: this.context.partialValues.get(integers) });
  }

  /** {@link readSizes} of an operator that gives how far integers are below zero, then above. */
  readSigned(op: string, integers: Expr, options: SizesOptions): readonly Dim[] {
    const sizes = this.readSizes(op, integers, options);
    const count = sizes.length / 2;
    const known = op === 'signed_sizes' ? this.context.partialValues.get(integers) : undefined;
    return sizes.slice(0, count).map((below, i) => {
      const element = known?.[i] ?? '?';
      return element === '?' ? this.dims.sub(sizes[count + i] ?? 0, below) : element;
    });
  }

  /**
   * A tensor, or the same one with names for sizes whose formulas have become long: the program computes them here,
   * and what follows is written with the names.
   */
  withShortSizes(expr: Expr): Expr {
    if (expr.kind !== 'call' || this.composite(expr) !== undefined) return expr;
    const type = this.#types.of(expr);
    if (type.kind !== 'tensor') return expr;
    const { shape } = type;
    const long = shape.filter((dim) => isTooLong(dim, MAX_SIZE_OPERATIONS));
    if (long.length === 0) return expr;
    const sizes = long.map((dim) => this.#nameOf(dim));
    return this.reshape(
      expr,
      shape.map((dim) => sizes[long.indexOf(dim)] ?? dim),
    );
  }

  #nameOf(dim: Dim): Dim {
    const { sizeNames } = this.context;
    const key = formatDim(dim);
    const known = sizeNames.get(key);
    if (known !== undefined && this.block.hasNamed(known)) return known;
    const list = this.call('dims_tensor', [], { dims: [dim] });
    const [name = '?'] = this.readSizes('sizes', list, { what: 'shape' });
    if (typeof name === 'string') sizeNames.set(key, name);
    return name;
  }

  /** The elements of a tensor as dimensions, where not all are numbers. */
  shapeValue(expr: Expr): SymbolicTensor | undefined {
    return this.#shapeValues.get(expr);
  }

  /** A value that the program can read: a tensor that it makes of dimensions, for shape arithmetic; data. */
  tensor(expr: Expr): Expr {
    const value = this.shapeValue(expr);
    if (value === undefined) return this.composite(expr) === undefined ? expr : this.data(expr);
    const vector = this.call('dims_tensor', [], { dims: value.elements });
    const { dtype, shape } = value;
    const typed = dtype === 'int64' ? vector : this.call('cast', [vector], { to: dtype });
    return shape.length === 1 ? typed : this.reshape(typed, shape);
  }

  /** An expression for a value of shape arithmetic: a constant, or what only calls here may read. */
  shapeResult(value: SymbolicTensor): Expr {
    const host = value.toHost();
    if (host !== undefined) return this.constant(host);
    const expr = variable('shape', value.dtype, value.shape, this.span);
    this.#shapeValues.set(expr, value);
    return expr;
  }

  /** The only element of a constant input, undefined when it is left out. */
  numberInput(index: number, what: string): number | undefined {
    const tensor = this.constantInput(index, what);
    if (tensor === undefined) return undefined;
    if (tensor.elementCount === 1) {
      const element = Number(tensor.elements[0] ?? 0);
      return isSmallFloat(tensor.dtype) ? smallFloatToNumber(tensor.dtype, element) : element;
    }
    throw this.malformed(`${tensor.elementCount} ${what} as input ${index}`, 'one');
  }

  /**
   * An operator call; evaluated at once where all operands are constant integers. Sizes that depend
   * on elements get names, which attributes of what follows may use.
   */
  call(op: string, args: readonly Expr[], attributes: Attributes = {}): Expr {
    budgetInForce()?.addCall();
    const inputs: HostTensor[] = [];
    for (const arg of args) if (arg.kind === 'constant') inputs.push(arg.value);
    const isConstant = inputs.length === args.length && inputs.length > 0;
    if (isConstant && !hasSymbols(this.#operator(op), attributes)) {
      const folded = foldIntegerCall(this.#operator(op), inputs, attributes);
      if (folded !== undefined) return constant(folded, this.span);
    }
    const symbolic = this.#symbolicCall(op, args, attributes);
    if (symbolic !== undefined) return symbolic;
    const operands = this.#broadcast(
      op,
      args.map((arg) => this.#operand(arg)),
    );
    this.#requireDTypes(op, operands);
    const expr = call(op, operands, attributes, this.span);
    const type = this.type(expr);
    if (op === 'concat' && type.shape.length === 1) {
      this.context.partialValues.set(expr, this.#partialElements(args));
    }
    return this.#operator(op).kind === 'dynamic' ? this.block.name(expr, type, this.span) : expr;
  }

  /** The tensor of an argument. Throws UnsupportedError for another value. */
  #operand(arg: Expr): Expr {
    if (this.composite(arg) !== undefined) this.type(arg);
    return this.tensor(arg);
  }

  /** Throws UnsupportedError, which names the node, for an operator that the table does not have. */
  #operator(name: string): Operator {
    const op = this.#types.operators.get(name);
    if (op !== undefined) return op;
    throw this.unsupported(
      `operator ${name}, which its importer makes`,
      'an operator of the table',
      'Pass it: operators: new Operators([...coreOperators, mine]).',
    );
  }

  /** The operands of an operator that broadcasts, repeated where only the running program knows how often. */
  #broadcast(op: string, operands: readonly Expr[]): readonly Expr[] {
    // The last axes of matrices are multiplied.
    const own = op === 'matmul' ? 2 : 0;
    if (operands.length < 2 || (own === 0 && this.#operator(op).kind !== 'elementwise')) {
      return operands;
    }
    const shapes = operands.map((operand) => this.shape(operand));
    const leads = shapes.map((shape) => shape.slice(0, Math.max(0, shape.length - own)));
    const repeats = this.broadcastRepeats(leads);
    return operands.map((operand, i) => {
      const lead = repeats[i];
      if (lead === undefined) return operand;
      const shape = [...lead, ...(shapes[i] ?? []).slice(lead.length)];
      return this.call('broadcast_to', [operand], { shape });
    });
  }

  /** See {@link BroadcastSizes.repeatsOf}. */
  broadcastRepeats(shapes: readonly (readonly Dim[])[]): readonly (readonly Dim[] | undefined)[] {
    const name = (size: Dim): Dim => this.sizeOf(hostInteger(size, this.block.frame));
    return this.context.broadcastSizes.repeatsOf(shapes, { dims: this.dims, name });
  }

  /** A dimension that has the value of an int. */
  sizeOf(value: Expr): Dim {
    const sizes = call('sizes_of', [value], {}, this.span);
    const type = tensorType({ dtype: 'int32', shape: [0, '?'] });
    return this.shape(this.block.name(sizes, type, this.span))[1] ?? 0;
  }

  /** The elements of vectors one after the other, `?` where only the running program knows. */
  #partialElements(vectors: readonly Expr[]): readonly Dim[] {
    const lengths = vectors.map((vector) => this.shape(vector)[0] ?? 1);
    if (lengths.some((length) => typeof length !== 'number' || length > MAX_RANK)) return [];
    return vectors.flatMap((vector, i): readonly Dim[] => {
      if (vector.kind === 'constant') return saturatedNumbers(vector.value.data);
      const unknown = new Array<Dim>(Number(lengths[i])).fill('?');
      const partial = this.context.partialValues.get(vector);
      const known = partial?.length === unknown.length ? partial : unknown;
      return this.shapeValue(vector)?.elements ?? known;
    });
  }

  /** The result of shape arithmetic, where it is known. */
  #symbolicCall(op: string, args: readonly Expr[], attributes: Attributes): Expr | undefined {
    if (!args.some((arg) => this.#shapeValues.has(arg))) return undefined;
    const values: SymbolicTensor[] = [];
    for (const arg of args) {
      const value =
        arg.kind === 'constant' ? SymbolicTensor.fromHost(arg.value) : this.#shapeValues.get(arg);
      if (value !== undefined) values.push(value);
    }
    const isKnown = values.length === args.length && !hasSymbols(this.#operator(op), attributes);
    const result = isKnown
      ? evaluateSymbolicCall(this.#operator(op), values, attributes)
      : undefined;
    return result === undefined ? undefined : this.shapeResult(result);
  }

  /** {@link call} of a binary operator over several operands, from the left. */
  chain(op: string, args: readonly Expr[]): Expr {
    const [first, ...rest] = args;
    if (first === undefined) throw new Error(`internal: ${op} of nothing`);
    return rest.reduce((left, right) => this.call(op, [left, right]), first);
  }

  reshape(expr: Expr, shape: readonly Dim[]): Expr {
    return this.call('reshape', [expr], { shape });
  }

  constant(tensor: HostTensor): Expr {
    return constant(ownTensor(tensor), this.span);
  }

  /** A constant whose elements follow from their places. */
  table(dtype: DType, shape: Shape, element: (index: number) => number): Expr {
    if (shape.some((size) => size < 0)) {
      throw this.malformed(`sizes ${formatShape(shape)}`, 'none below 0');
    }
    const tensor = HostTensor.zeros(dtype, shape);
    const { elements } = tensor;
    const isBig = elements instanceof BigInt64Array || elements instanceof BigUint64Array;
    for (let i = 0; i < elements.length; i++) {
      if (isBig) elements[i] = BigInt(element(i));
      else elements[i] = element(i);
    }
    return this.constant(tensor);
  }

  /** A constant of rank 0. Throws UnsupportedError for a fraction as an integer. */
  scalar(value: number, dtype: DType = 'float32'): Expr {
    if (dtypeInfo(dtype).category !== 'float' && !Number.isInteger(value)) {
      throw this.unsupported(
        `${dtype} elements to compute with ${value}`,
        'floating-point elements',
      );
    }
    return this.constant(HostTensor.from(dtype, [], [value]));
  }

  int64s(values: readonly number[], shape: Shape = [values.length]): Expr {
    return this.constant(HostTensor.from('int64', shape, values));
  }

  unsupported(got: string, expected: string, remedy?: string): UnsupportedError {
    return new UnsupportedError({ where: this.where, got, expected, remedy });
  }

  malformed(got: string, expected: string): FormatError {
    return new FormatError({ where: this.where, got, expected });
  }

  #requireDTypes(op: string, args: readonly Expr[]): void {
    const specs = this.#operator(op).inputs;
    for (const [index, arg] of args.entries()) {
      const spec = specs[Math.min(index, specs.length - 1)];
      const { dtype, shape } = this.type(arg);
      if (spec === undefined || spec.dtypes.includes(dtype)) continue;
      throw this.unsupported(
        `${dtype} ${formatShape(shape.map(formatDim))} as ${spec.name} of ${op}`,
        spec.dtypes.join(', '),
      );
    }
  }
}

interface SizesOptions extends Attributes {
  /** The name of the integers, for messages. */
  readonly what: string;
}

const UNRANKED_REMEDY = 'Give its inputs types, and its sequences tensors of one rank.';

/** Longer vectors are no shapes. */
const MAX_RANK = 64;

/** The longest formula of a size that is written out in every type. */
const MAX_SIZE_OPERATIONS = 32;

/** Shapes and axes are short, indices are not much longer. */
const MAX_INTEGERS = 2 ** 20;

/** An importer of a page's own may have another copy of the class than the machine that calls it. */
function ownTensor(tensor: HostTensor): HostTensor {
  const { dtype, shape, elements, isSplat } = Object(tensor) as HostTensor;
  const isOwn = tensor instanceof HostTensor || elements === undefined;
  return isOwn ? tensor : new HostTensor(dtype, shape, elements, isSplat);
}

/** Integers as numbers. ONNX writes "to the end" as the largest int64. */
function saturatedNumbers(data: ArrayLike<number | bigint>): number[] {
  return Array.from(data, (value) =>
    Math.min(Math.max(Number(value), Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER),
  );
}
