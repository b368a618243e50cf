import { boolAttribute } from '../attributes.ts';
import type { RoomUse } from '../room-use.ts';
import type { IndexingName } from './indexing-ops.ts';
import { axisOf } from './tensor-scatter.ts';

export const INDEXING_ROOM: Readonly<Partial<Record<IndexingName, RoomUse>>> = {
  tensor_scatter: {
    changedAxis: (attributes, rank) =>
      boolAttribute(attributes, 'circular') ? undefined : axisOf(attributes, rank),
  },
};
