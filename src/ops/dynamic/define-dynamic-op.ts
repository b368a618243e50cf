import { defineOp, type OpDefinition } from '../define-op.ts';
import { EXACT } from '../elementwise/elementwise.ts';

type DynamicOp<Name extends string> = Omit<
  OpDefinition<Name>,
  'kind' | 'hostOnlyBecause' | 'tolerance'
>;

/** An operator whose result has a size that depends on elements. */
export function defineDynamicOp<const Name extends string>(op: DynamicOp<Name>) {
  return defineOp({
    ...op,
    kind: 'dynamic',
    hostOnlyBecause: 'the size of its result depends on elements',
    tolerance: EXACT,
  });
}
