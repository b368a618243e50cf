import { broadcastTo } from './broadcast-to.ts';
import { concat } from './concat.ts';
import { full } from './full.ts';
import { gather } from './gather.ts';
import { pad } from './pad.ts';
import { reshape } from './reshape.ts';
import { slice } from './slice.ts';
import { tile } from './tile.ts';
import { transpose } from './transpose.ts';

export const MOVEMENT_OPS = [
  transpose,
  reshape,
  broadcastTo,
  concat,
  slice,
  gather,
  pad,
  full,
  tile,
] as const;

export type MovementName = (typeof MOVEMENT_OPS)[number]['name'];
