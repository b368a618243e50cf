import type { OpReference } from '../op-reference.ts';
import { bitcastReference } from './bitcast.reference.ts';
import { castReference } from './cast.reference.ts';
import { elementwiseReference } from './elementwise.reference.ts';
import { ELEMENTWISE_OPS } from './elementwise-ops.ts';

/** Those of operators that have formulas follow from them. */
export const ELEMENTWISE_REFERENCES: Readonly<Record<string, OpReference>> = {
  ...Object.fromEntries(
    ELEMENTWISE_OPS.filter((op) => op.scalar?.formula !== undefined).map((op) => [
      op.name,
      elementwiseReference(op),
    ]),
  ),
  // Of small floats too, which have no formula.
  cast: castReference,
  bitcast: bitcastReference,
};
