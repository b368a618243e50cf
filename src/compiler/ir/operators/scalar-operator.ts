import type { BuiltinName } from '../../../bytecode/builtins.ts';
import type { Attributes } from '../../../core/contracts/primitive-function.ts';
import type { AttributeSpec } from '../../../ops/define-op.ts';
import type { ScalarTypeNode, TupleTypeNode, Type } from '../type.ts';

/** An operator of the IR that is a builtin of the machine and no kernel: on numbers of the host, mostly. */
export interface ScalarOperator {
  readonly name: string;
  /** The kinds of its operands; `tensor` takes a tensor of any type. */
  readonly inputs: readonly ScalarInput[];
  /** The kind of further operands, any number of them. */
  readonly rest?: ScalarInput;
  readonly attributes: Readonly<Record<string, AttributeSpec>>;
  /** `operand`: the type of the first input. */
  readonly result:
    | ScalarTypeNode
    | TupleTypeNode
    | 'operand'
    | ((inputs: readonly Type[], attributes: Attributes, typeArguments: readonly Type[]) => Type);
  /** Set if a call does more than compute its result; see `effects.ts`. */
  readonly hasEffect?: true;
  /** Absent for `dim`, whose value is a symbolic dimension, and for `device_copy`. */
  readonly builtin?: BuiltinName;
}

export type ScalarInput =
  | 'int'
  | 'float'
  /** An int or a float. */
  | 'number'
  /** A bool tensor of rank 0, or an int. */
  | 'condition'
  | 'tensor'
  | 'shape'
  | 'shape_heap'
  | 'storage'
  | 'function'
  | 'any';
