import type { RoomUse } from '../room-use.ts';
import type { AttentionName } from './attention-ops.ts';

export const ATTENTION_ROOM: Readonly<Partial<Record<AttentionName, RoomUse>>> = {
  cached_attention: { prefix: { inputs: [1, 2], axis: 2, attribute: 'keys' } },
  scaled_dot_product_attention: { prefix: { inputs: [1, 2], axis: 2, attribute: 'keys' } },
};
