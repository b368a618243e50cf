import { internalError } from '../core/errors.ts';
import { ELEMENTWISE_REFERENCES } from './elementwise/elementwise-ops.reference.ts';
import { LINEAR_REFERENCES } from './linear/linear-ops.reference.ts';
import { CONVOLUTION_REFERENCES } from './convolution/convolution-ops.reference.ts';
import { NORMALIZATION_REFERENCES } from './normalization/normalization-ops.reference.ts';
import { RECURRENT_REFERENCES } from './recurrent/recurrent-ops.reference.ts';
import { ATTENTION_REFERENCES } from './attention/attention-ops.reference.ts';
import { REDUCTION_REFERENCES } from './reduction/reduction-ops.reference.ts';
import { MOVEMENT_REFERENCES } from './movement/movement-ops.reference.ts';
import { PROGRAM_REFERENCES } from './program/program-ops.reference.ts';
import { INDEXING_REFERENCES } from './indexing/indexing-ops.reference.ts';
import { SPATIAL_REFERENCES } from './spatial/spatial-ops.reference.ts';
import { SIGNAL_REFERENCES } from './signal/signal-ops.reference.ts';
import { QUANTIZATION_REFERENCES } from './quantization/quantization-ops.reference.ts';
import { DYNAMIC_REFERENCES } from './dynamic/dynamic-ops.reference.ts';
import type { OpReference, StaticReference } from './op-reference.ts';

const REFERENCES: ReadonlyMap<string, OpReference> = new Map(
  Object.entries({
    ...ELEMENTWISE_REFERENCES,
    ...LINEAR_REFERENCES,
    ...CONVOLUTION_REFERENCES,
    ...NORMALIZATION_REFERENCES,
    ...RECURRENT_REFERENCES,
    ...ATTENTION_REFERENCES,
    ...REDUCTION_REFERENCES,
    ...MOVEMENT_REFERENCES,
    ...PROGRAM_REFERENCES,
    ...INDEXING_REFERENCES,
    ...SPATIAL_REFERENCES,
    ...SIGNAL_REFERENCES,
    ...QUANTIZATION_REFERENCES,
    ...DYNAMIC_REFERENCES,
  }),
);

/** The reference of an operator of the registry. */
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
