import type { BuiltinName } from '../../bytecode/builtins.ts';
import type { AttributeSpec } from '../../ops/define-op.ts';
import { INT_TYPE, type ScalarTypeNode } from './type.ts';

/** An operator on integers of the host. It is a builtin of the machine, no kernel. */
export interface ScalarOperator {
  readonly name: string;
  /** Ints; `tensor` takes a tensor of any type. */
  readonly inputs: readonly ('int' | 'tensor')[];
  readonly attributes: Readonly<Record<string, AttributeSpec>>;
  readonly result: ScalarTypeNode;
  /** Absent for `dim`, whose value is a symbolic dimension. */
  readonly builtin?: BuiltinName;
}

function binary(builtin: BuiltinName): ScalarOperator {
  return {
    name: builtin,
    inputs: ['int', 'int'],
    attributes: {},
    result: INT_TYPE,
    builtin,
  };
}

/** The scalar operators of the IR by name. `int_eq` and `int_lt` give 0 or 1. */
export const SCALAR_OPERATORS: ReadonlyMap<string, ScalarOperator> = new Map(
  [
    binary('int_add'),
    binary('int_sub'),
    binary('int_mul'),
    binary('int_floordiv'),
    binary('int_mod'),
    binary('int_eq'),
    binary('int_lt'),
    {
      name: 'dim',
      inputs: ['tensor'],
      attributes: { axis: { type: 'int' } },
      result: INT_TYPE,
    } satisfies ScalarOperator,
  ].map((op: ScalarOperator) => [op.name, op]),
);
