import type { Clock } from '../core/async/clock.ts';
import type { MachineOptions } from '../runtime/link/load-machine.ts';
import type { ExecutableStore } from './executable-store.ts';
import type { RpcLimits } from './limits.ts';
import type { RpcFunction } from './values/rpc-value.ts';

/** A device that can be served; `createDevice` of `weft-vm/worker` makes one. */
export type ServedDevice = MachineOptions['devices'][number];

/** An event in the work of a device for one connection. */
type WorkEvent =
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

/** What one who may use the devices may do with them. */
export interface DeviceServiceOptions {
  readonly devices: readonly ServedDevice[];
  readonly offer: Readonly<Record<string, RpcFunction>>;
  readonly limits: RpcLimits;
  readonly store: ExecutableStore;
  readonly onEvent?: ((event: WorkEvent) => void) | undefined;
  readonly clock?: Clock | undefined;
}

/** The device that computes what `main` cannot; a processor is its own, in the same memory. */
export function hostBeside(main: ServedDevice, devices: readonly ServedDevice[]): ServedDevice {
  if (main.kind !== 'webgpu') return main;
  const served = (wanted: string) => devices.find(({ kind }) => kind === wanted);
  return served('wasm') ?? served('host') ?? main;
}
