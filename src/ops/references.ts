import { internalError } from '../core/errors.ts';
import { ELEMENTWISE_OPS } from './elementwise/elementwise-ops.ts';
import { LINEAR_OPS } from './linear/linear-ops.ts';
import { CONVOLUTION_OPS } from './convolution/convolution-ops.ts';
import { NORMALIZATION_OPS } from './normalization/normalization-ops.ts';
import { RECURRENT_OPS } from './recurrent/recurrent-ops.ts';
import { ATTENTION_OPS } from './attention/attention-ops.ts';
import { REDUCTION_OPS } from './reduction/reduction-ops.ts';
import { MOVEMENT_REFERENCES } from './movement/movement-ops.reference.ts';
import { PROGRAM_OPS } from './program/program-ops.ts';
import { INDEXING_OPS } from './indexing/indexing-ops.ts';
import { SPATIAL_OPS } from './spatial/spatial-ops.ts';
import { SIGNAL_OPS } from './signal/signal-ops.ts';
import { QUANTIZATION_OPS } from './quantization/quantization-ops.ts';
import { DYNAMIC_OPS } from './dynamic/dynamic-ops.ts';
import { inlineReferences } from './inline-parts.ts';
import type { OpReference, StaticReference } from './op-reference.ts';

const REFERENCES: ReadonlyMap<string, OpReference> = new Map(
  Object.entries({
    ...inlineReferences(ELEMENTWISE_OPS),
    ...inlineReferences(LINEAR_OPS),
    ...inlineReferences(CONVOLUTION_OPS),
    ...inlineReferences(NORMALIZATION_OPS),
    ...inlineReferences(RECURRENT_OPS),
    ...inlineReferences(ATTENTION_OPS),
    ...inlineReferences(REDUCTION_OPS),
    ...MOVEMENT_REFERENCES,
    ...inlineReferences(PROGRAM_OPS),
    ...inlineReferences(INDEXING_OPS),
    ...inlineReferences(SPATIAL_OPS),
    ...inlineReferences(SIGNAL_OPS),
    ...inlineReferences(QUANTIZATION_OPS),
    ...inlineReferences(DYNAMIC_OPS),
  }),
);

/** What an operator of the registry computes on the host. */
export function opReference(name: string): OpReference {
  const reference = REFERENCES.get(name);
  if (reference === undefined) throw internalError(`operator ${name} has no reference`);
  return reference;
}

/** The same of an operator that writes into a destination. */
export function staticReference(name: string): StaticReference {
  const reference = opReference(name);
  if ('reference' in reference) return reference;
  throw internalError(`a destination for the result of ${name}, whose size nobody knows`);
}
