import { UnsupportedError } from '../core/errors.ts';
import type { OpDefinition } from './define-op.ts';
import { DYNAMIC_OPS } from './dynamic/dynamic-ops.ts';
import { KERNEL_OPS } from './kernel-ops.ts';

/** Every operator by name. */
export const OPS: ReadonlyMap<string, OpDefinition> = new Map([
  ...KERNEL_OPS,
  ...DYNAMIC_OPS.map((op): [string, OpDefinition] => [op.name, op]),
]);

/** The operator of a name. Throws UnsupportedError when there is none. */
export function opDefinition(name: string): OpDefinition {
  const op = OPS.get(name);
  if (op !== undefined) return op;
  throw new UnsupportedError({ got: `operator ${name}`, expected: 'an operator that Weft has' });
}

/** Whether the sizes of an operator's result depend on elements. False for a name that is none. */
export function isDynamicOperator(name: string): boolean {
  return OPS.get(name)?.kind === 'dynamic';
}
