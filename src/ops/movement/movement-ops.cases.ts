import type { OpCases } from '../op-cases.ts';
import { transposeCases } from './transpose.cases.ts';
import { reshapeCases } from './reshape.cases.ts';
import { broadcastToCases } from './broadcast-to.cases.ts';
import { concatCases } from './concat.cases.ts';
import { sliceCases } from './slice.cases.ts';
import { gatherCases } from './gather.cases.ts';
import { padCases } from './pad.cases.ts';
import { fullCases } from './full.cases.ts';
import { tileCases } from './tile.cases.ts';
import type { MovementName } from './movement-ops.ts';

export const MOVEMENT_CASES = {
  transpose: transposeCases,
  reshape: reshapeCases,
  broadcast_to: broadcastToCases,
  concat: concatCases,
  slice: sliceCases,
  gather: gatherCases,
  pad: padCases,
  full: fullCases,
  tile: tileCases,
} satisfies Record<MovementName, OpCases>;
