import type { ServeEvent } from '../../rpc/index.ts';
import type { LendAddress } from './lend-address.ts';

type WithoutReason<Event> = Event extends { readonly kind: 'closed' }
  ? Omit<Event, 'reason'> & { readonly reason: string }
  : Event;

/** An event of a connection, with errors as texts. */
export type LendEvent = WithoutReason<ServeEvent>;

/** A message of the page to its worker. */
export type ToWorker =
  | { readonly kind: 'start'; readonly address: LendAddress }
  | { readonly kind: 'stop' };

/** A message of the worker to the page. */
export type FromWorker =
  | {
      readonly kind: 'device';
      readonly names: readonly string[];
      readonly note?: string | undefined;
    }
  | { readonly kind: 'state'; readonly state: 'connecting' | 'waiting' | 'retrying' }
  | { readonly kind: 'event'; readonly event: LendEvent }
  | { readonly kind: 'ended'; readonly error?: string | undefined };
