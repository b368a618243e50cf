import type { MachineOptions } from '../runtime/load-machine.ts';

/** A device that can be served; `createDevice` of `weft-vm/worker` makes one. */
export type ServedDevice = MachineOptions['devices'][number];

/** An event in the work of a device for one connection. */
export type WorkEvent =
  | { readonly kind: 'load'; readonly hash: string; readonly device: string }
  | { readonly kind: 'call'; readonly function: string }
  | { readonly kind: 'done'; readonly function: string };

/**
 * Events of connections, as the serving side sees them. Those of one connection have its number. One
 * that never came to `connected` was refused, or was gone before.
 */
export type ServeEvent = { readonly connection: number } & (
  | { readonly kind: 'connected'; readonly peer: string }
  | WorkEvent
  | { readonly kind: 'closed'; readonly reason: Error }
);
