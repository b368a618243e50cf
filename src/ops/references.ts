import { internalError } from '../core/errors.ts';
import { CORE_REFERENCES } from './core-references.ts';
import { elementwiseReference } from './elementwise/elementwise.reference.ts';
import { injectiveReference } from './index-expression/injective.reference.ts';
import type { OpReference, StaticReference } from './op-reference.ts';
import type { Operator } from './operator.ts';

/** The host computation of an operator; undefined if only WebGPU runs it. */
export function referenceOf(op: Operator): OpReference | undefined {
  const own = op.reference === 'core' ? CORE_REFERENCES[op.name] : op.reference;
  if (own !== undefined) return own;
  if (op.scalar?.formula !== undefined) return elementwiseReference(op);
  return op.indexMap === undefined ? undefined : injectiveReference(op);
}

/** The reference of an operator that was found to have one. */
export function opReference(op: Operator): OpReference {
  const reference = referenceOf(op);
  if (reference === undefined) throw internalError(`operator ${op.name} has no reference`);
  return reference;
}

/** The same of an operator that writes into a destination. */
export function staticReference(op: Operator): StaticReference {
  const reference = opReference(op);
  if ('reference' in reference) return reference;
  throw internalError(`a destination for the result of ${op.name}, whose size is unknown`);
}
