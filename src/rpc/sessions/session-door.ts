import type { SessionService } from '../../worker/protocol/session-service.ts';
import type { ShipProgress } from '../executable-store.ts';
import type { SendOptions } from '../values/remote-handles.ts';

/**
 * Calls of a session as they cross a connection: those of a page's worker, without the numbers of calls, which the connection
 * has itself. Beside them, `watch` begins a run that stands after each kernel, and gives the function that takes orders for it;
 * `constants` reads tensors of the pool of constants.
 */
export type SessionCall =
  | Exclude<keyof SessionService, 'handshake' | 'configure' | 'cancel'>
  | 'watch'
  | 'constants';

/** The part of a connection with a server of devices that sessions need. */
export interface SessionDoor {
  /** Sends a program unless it is there; resolves to its SHA-256. */
  readonly ship: (
    program: Uint8Array,
    options: {
      readonly signal: AbortSignal | undefined;
      readonly onProgress?: ((progress: ShipProgress) => void) | undefined;
    },
  ) => Promise<string>;
  readonly call: (
    name: SessionCall,
    args: readonly unknown[],
    options?: SendOptions,
  ) => Promise<unknown>;
}
