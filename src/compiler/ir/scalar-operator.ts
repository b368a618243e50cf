import type { BuiltinName } from '../../bytecode/builtins.ts';
import type { Attributes } from '../../core/primitive-function.ts';
import type { AttributeSpec } from '../../ops/define-op.ts';
import type { ScalarTypeNode, TupleTypeNode, Type } from './type.ts';

/** An operator of the IR that is a builtin of the machine and no kernel: on integers, mostly. */
export interface ScalarOperator {
  readonly name: string;
  /** Ints; `tensor` takes a tensor of any type. */
  readonly inputs: readonly ScalarInput[];
  /** Repeats after those. */
  readonly rest?: ScalarInput;
  readonly attributes: Readonly<Record<string, AttributeSpec>>;
  /** `operand`: the type of the first input. */
  readonly result:
    | ScalarTypeNode
    | TupleTypeNode
    | 'operand'
    | ((inputs: readonly Type[], attributes: Attributes, typeArguments: readonly Type[]) => Type);
  /** Absent for `dim`, whose value is a symbolic dimension, and for `device_copy`. */
  readonly builtin?: BuiltinName;
}

/** The kind of an operand. */
export type ScalarInput =
  | 'int'
  | 'tensor'
  | 'shape'
  | 'shape_heap'
  | 'storage'
  | 'function'
  | 'any';
