import type { HostTensor } from '../../core/host-tensor.ts';
import type { Attributes } from '../../core/primitive-function.ts';
import { defineOp, type OpDefinition } from '../define-op.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import type { Operands } from '../lowering.ts';

type DynamicOp = Omit<OpDefinition, 'kind' | 'host' | 'tolerance'> & {
  /** See {@link OpDefinition.compute}. */
  compute(inputs: Operands<HostTensor>, attributes: Attributes): HostTensor;
};

/** An operator whose result has a size that depends on elements. */
export function defineDynamicOp(op: DynamicOp): OpDefinition {
  return defineOp({
    ...op,
    kind: 'dynamic',
    host: 'the size of its result depends on elements',
    tolerance: EXACT,
  });
}
