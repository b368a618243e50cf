import type { MachineOptions } from '../runtime/load-machine.ts';

/** What a device has to be; `createDevice` of `weft-vm/worker` makes one. */
export type LendableDevice = MachineOptions['devices'][number];

/** What happens in a session, as the side that lends sees it. */
export type ServeEvent =
  | { readonly kind: 'connected'; readonly peer: string }
  | { readonly kind: 'load'; readonly hash: string; readonly device: string }
  | { readonly kind: 'call'; readonly function: string }
  | { readonly kind: 'done'; readonly function: string }
  | { readonly kind: 'closed'; readonly reason: Error };
