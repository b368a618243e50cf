import { DYNAMIC_OPS } from './dynamic/dynamic-ops.ts';
import { KERNEL_OPS } from './kernel-ops.ts';
import type { Operator } from './operator.ts';
import { Operators } from './operators.ts';

/** The operators that Weft has. */
export const coreOperators: readonly Operator[] = [...KERNEL_OPS.values(), ...DYNAMIC_OPS].map(
  (op) => ({ ...op, reference: 'core' }),
);

/** The table of those alone: what compilers and the host take where nothing else is passed in. */
export const CORE_OPERATORS: Operators = new Operators(coreOperators);
