import type { NatsConnection } from '@nats-io/nats-core';

type Lost = (reason: string) => void;

const LISTENERS = new WeakMap<NatsConnection, Set<Lost>>();

/**
 * Calls back when a connection breaks off, also when the client connects again afterwards: what was
 * under way may be lost. Returns what ends that.
 */
export function onConnectionLost(nats: NatsConnection, lost: Lost): () => void {
  const listeners = LISTENERS.get(nats) ?? watch(nats);
  listeners.add(lost);
  return () => listeners.delete(lost);
}

function watch(nats: NatsConnection): Set<Lost> {
  const listeners = new Set<Lost>();
  LISTENERS.set(nats, listeners);
  const tell = (reason: string): void => {
    for (const lost of listeners) lost(reason);
  };
  const follow = async (): Promise<void> => {
    for await (const { type } of nats.status()) {
      if (type === 'disconnect' || type === 'close') tell('the connection to NATS broke off');
      if (type === 'slowConsumer') tell('messages of NATS were dropped, because too many waited');
    }
  };
  void follow().catch(() => tell('the connection to NATS broke off'));
  void nats.closed().then(() => tell('the connection to NATS was closed'));
  return listeners;
}
