import type { Expr } from '../../compiler/ir/expr.ts';
import type { Dim } from '../../core/dims/dim.ts';
import type { FormatError, UnsupportedError } from '../../core/errors.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { Attributes, TensorType } from '../../core/contracts/primitive-function.ts';

/** Importers by domain, then by the names that the domain gives its operators. */
export type Importers = Readonly<Record<string, Readonly<Record<string, Importer>>>>;

/** An operator of a domain, and how a node of it is imported. */
interface Importer {
  /** The first version of its operator set that has it. */
  readonly since: number;
  /** Names of the operators that it becomes, with blanks between them. */
  readonly makes: string;
  /** The expressions that a node becomes, one for each output that can be used. */
  readonly import: (node: OnnxNode) => Expr | readonly (Expr | undefined)[];
}

/** A node of a model, as an importer sees it. */
export interface OnnxNode {
  /** The name of its operator. */
  readonly opType: string;
  /** `node "name" (Conv)`, for messages. */
  readonly where: string;
  /** The version of its domain's operator set. */
  readonly opset: number;
  /** Its attributes. One that an importer does not ask for is an error. */
  readonly attributes: OnnxAttributes;
  /** Its inputs; what it leaves out is undefined. */
  readonly inputs: readonly (Expr | undefined)[];
  /** How many outputs it has. */
  readonly outputCount: number;
  /** A required input. Throws FormatError when the node leaves it out. */
  input(index: number): Expr;
  /** The type of an input or of a result of {@link call}. */
  type(expr: Expr): TensorType;
  /** Its shape, in which sizes may be symbols. */
  shape(expr: Expr): readonly Dim[];
  /** The value of a constant input, undefined when it is left out. Throws UnsupportedError if computed. */
  constantInput(index: number, what: string): HostTensor | undefined;
  /** A call of an operator; evaluated at once where all operands are constant integers. */
  call(op: string, args: readonly Expr[], attributes?: Attributes): Expr;
  /** A constant. */
  constant(tensor: HostTensor): Expr;
  /** The error for what the importer does not support, to be thrown. */
  unsupported(got: string, expected: string, remedy?: string): UnsupportedError;
  /** The error for what is no valid node, to be thrown. */
  malformed(got: string, expected: string): FormatError;
}

/** The attributes of a node. Each throws FormatError for an attribute of another type. */
interface OnnxAttributes {
  /** An integer; `otherwise` where the node leaves it out. */
  int(name: string, otherwise: number): number;
  /** A float; `otherwise` where the node leaves it out. */
  float(name: string, otherwise: number): number;
  /** An integer that is 0 or 1; `otherwise`, which is false by default, where the node leaves it out. */
  bool(name: string, otherwise?: boolean): boolean;
  /** A string; `otherwise` where the node leaves it out. */
  string(name: string, otherwise: string): string;
  /** A list of integers; undefined where the node leaves it out. */
  ints(name: string): readonly number[] | undefined;
  /** A list of floats; undefined where the node leaves it out. */
  floats(name: string): readonly number[] | undefined;
  /** A tensor; undefined where the node leaves it out. */
  tensor(name: string): HostTensor | undefined;
}
