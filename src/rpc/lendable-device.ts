import type { MachineOptions } from '../runtime/load-machine.ts';

/** A device that can be lent; `createDevice` of `weft-vm/worker` makes one. */
export type LendableDevice = MachineOptions['devices'][number];

/** An event in the work of a device for one session. */
export type WorkEvent =
  | { readonly kind: 'load'; readonly hash: string; readonly device: string }
  | { readonly kind: 'call'; readonly function: string }
  | { readonly kind: 'done'; readonly function: string };

/**
 * Events of sessions, as the side that lends sees them. Those of one session have its number. One
 * that never came to `connected` was refused, or was gone before.
 */
export type ServeEvent = { readonly session: number } & (
  | { readonly kind: 'connected'; readonly peer: string }
  | WorkEvent
  | { readonly kind: 'closed'; readonly reason: Error }
);
