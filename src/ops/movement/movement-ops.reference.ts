import type { OpReference } from '../op-reference.ts';
import { transposeReference } from './transpose.reference.ts';
import { broadcastToReference } from './broadcast-to.reference.ts';
import { concatReference } from './concat.reference.ts';
import { sliceReference } from './slice.reference.ts';
import { gatherReference } from './gather.reference.ts';
import { padReference } from './pad.reference.ts';
import { fullReference } from './full.reference.ts';
import type { MovementName } from './movement-ops.ts';

/** Those of the others follow from their index maps. */
export const MOVEMENT_REFERENCES = {
  transpose: transposeReference,
  broadcast_to: broadcastToReference,
  concat: concatReference,
  slice: sliceReference,
  gather: gatherReference,
  pad: padReference,
  full: fullReference,
} satisfies Record<Exclude<MovementName, 'reshape' | 'tile'>, OpReference>;
