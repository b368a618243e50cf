import type { ServeEvent } from '../../rpc/index.ts';
import type { LendAddress } from './lend-address.ts';

type WithoutReason<Event> = Event extends { readonly kind: 'closed' }
  ? Omit<Event, 'reason'> & { readonly reason: string }
  : Event;

/** What happens in a session, with errors as texts. */
export type LendEvent = WithoutReason<ServeEvent>;

/** What the page tells its worker. */
export type ToWorker =
  | { readonly kind: 'start'; readonly address: LendAddress }
  | { readonly kind: 'stop' };

/** What the worker tells the page. */
export type FromWorker =
  | {
      readonly kind: 'device';
      readonly names: readonly string[];
      readonly note?: string | undefined;
    }
  | { readonly kind: 'state'; readonly state: 'connecting' | 'waiting' | 'retrying' }
  | { readonly kind: 'event'; readonly event: LendEvent }
  | { readonly kind: 'ended'; readonly error?: string | undefined };
