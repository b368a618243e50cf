import { ATTENTION_ROOM } from './attention/attention-ops.room.ts';
import { INDEXING_ROOM } from './indexing/indexing-ops.room.ts';
import type { RoomUse } from './room-use.ts';

/** The core operators that allow room after the elements of an input; only the compiler asks. */
export const OPERATOR_ROOM: Readonly<Record<string, RoomUse>> = {
  ...ATTENTION_ROOM,
  ...INDEXING_ROOM,
};
