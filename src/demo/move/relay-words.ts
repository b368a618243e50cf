/** Functions that a page which hands something over offers: its parcel, and to hear that it goes on there. */
export const TAKE = 'move.take';
export const ARRIVED = 'move.arrived';

/** Bounds of both sides: a parcel, and the two calls for it. */
export const MOVE_LIMITS = {
  messageBytes: 64 * 2 ** 20,
  handles: 16,
  pending: 4,
  callsPerSecond: 10,
  modules: 0,
  executableBytes: 0,
} as const;
