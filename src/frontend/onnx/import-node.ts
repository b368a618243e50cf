import { call, constant } from '../../compiler/ir/build.ts';
import type { Expr, Span } from '../../compiler/ir/expr.ts';
import type { TypeInference } from '../../compiler/type-inference.ts';
import type { DType } from '../../core/dtype.ts';
import { FormatError, UnsupportedError } from '../../core/errors.ts';
import { HostTensor } from '../../core/host-tensor.ts';
import type { Attributes, ConcreteTensorType } from '../../core/primitive-function.ts';
import { formatShape, type Shape } from '../../core/shape.ts';
import { opDefinition } from '../../ops/registry.ts';
import type { NodeAttributes } from './attributes.ts';
import { foldIntegerCall } from './fold-integer-call.ts';

/** Turns one ONNX node into expressions, one for each of its outputs that can be used. */
export type NodeImporter = (node: ImportNode) => Expr | readonly Expr[];

export interface ImportNodeParts {
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
}

/** A node of the source model, as an importer function sees it. */
export class ImportNode {
  readonly opType: string;
  readonly where: string;
  readonly opset: number;
  readonly attributes: NodeAttributes;
  readonly inputs: readonly (Expr | undefined)[];
  readonly outputCount: number;
  readonly #span: Span;
  readonly #types: TypeInference;

  constructor(parts: ImportNodeParts) {
    this.opType = parts.opType;
    this.where = parts.where;
    this.opset = parts.opset;
    this.attributes = parts.attributes;
    this.inputs = parts.inputs;
    this.outputCount = parts.outputCount;
    this.#span = parts.span;
    this.#types = parts.types;
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

  type(expr: Expr): ConcreteTensorType {
    return this.#types.tensor(expr);
  }

  shape(expr: Expr): Shape {
    return this.type(expr).shape;
  }

  /** The value of a constant input, undefined when it is left out. Throws UnsupportedError if computed. */
  constantInput(index: number, what: string): HostTensor | undefined {
    const input = this.inputs[index];
    if (input === undefined) return undefined;
    if (input.kind === 'constant') return input.value;
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

  /** The only element of a constant input, undefined when it is left out. */
  numberInput(index: number, what: string): number | undefined {
    const tensor = this.constantInput(index, what);
    if (tensor === undefined) return undefined;
    if (tensor.elementCount === 1) return Number(tensor.elements[0] ?? 0);
    throw this.malformed(`${tensor.elementCount} ${what} as input ${index}`, 'one');
  }

  /** An operator call; evaluated at once where all operands are constant integers. */
  call(op: string, args: readonly Expr[], attributes: Attributes = {}): Expr {
    const inputs: HostTensor[] = [];
    for (const arg of args) if (arg.kind === 'constant') inputs.push(arg.value);
    if (inputs.length === args.length && inputs.length > 0) {
      const folded = foldIntegerCall(op, inputs, attributes);
      if (folded !== undefined) return constant(folded, this.#span);
    }
    this.#requireDTypes(op, args);
    const expr = call(op, args, attributes, this.#span);
    this.#types.of(expr);
    return expr;
  }

  /** {@link call} of a binary operator over several operands, from the left. */
  chain(op: string, args: readonly Expr[]): Expr {
    const [first, ...rest] = args;
    if (first === undefined) throw new Error(`internal: ${op} of nothing`);
    return rest.reduce((left, right) => this.call(op, [left, right]), first);
  }

  reshape(expr: Expr, shape: Shape): Expr {
    return this.call('reshape', [expr], { shape });
  }

  constant(tensor: HostTensor): Expr {
    return constant(tensor, this.#span);
  }

  /** A constant of rank 0. */
  scalar(value: number, dtype: DType = 'float32'): Expr {
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
    const specs = opDefinition(op).inputs;
    for (const [index, arg] of args.entries()) {
      const spec = specs[Math.min(index, specs.length - 1)];
      const { dtype, shape } = this.type(arg);
      if (spec === undefined || spec.dtypes.includes(dtype)) continue;
      throw this.unsupported(
        `${dtype} ${formatShape(shape)} as ${spec.name} of ${op}`,
        spec.dtypes.join(', '),
      );
    }
  }
}

/** Shapes and axes are short, indices are not much longer. */
const MAX_INTEGERS = 2 ** 20;

/** Integers as numbers. ONNX writes "to the end" as the largest int64. */
function saturatedNumbers(data: ArrayLike<number | bigint>): number[] {
  return Array.from(data, (value) =>
    Math.min(Math.max(Number(value), Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER),
  );
}
