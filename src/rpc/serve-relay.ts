import { checkOptions, requireKind } from '../core/check-options.ts';
import type { Channel } from './channels/channel.ts';
import { deriveRelayToken } from './handshake/credentials.ts';
import { AccessError } from './errors.ts';
import { ExecutableStore } from './executable-store.ts';
import { DEFAULT_RPC_LIMITS } from './limits.ts';
import { joinRelay } from './channels/relay-channel.ts';
import { SERVE_OPTIONS, serveChannel, type ServeOptions } from './serve.ts';
import { ConnectionSlots } from './connection-slots.ts';
import { openWebSocket } from './channels/web-socket-channel.ts';

/** Devices that are served through a relay. */
export interface ServeRelayOptions extends ServeOptions {
  /** The name by which clients ask the relay for the devices. */
  readonly key: string;
  /** The relay's own credential. Default: derived from `token`, which it does not tell. */
  readonly relayToken?: string | undefined;
  /** Clients at one time. Default: 8. */
  readonly maxConnections?: number | undefined;
  /** Until it is asked again after the relay went away. Default: 1000. */
  readonly retryMs?: number | undefined;
  /**
   * Called with the state: the relay is being asked (`connecting`), has a place for this device
   * (`waiting`), or went away and is asked again later (`retrying`).
   */
  readonly onState?: ((state: 'connecting' | 'waiting' | 'retrying') => void) | undefined;
}

/** Devices that are served through a relay. */
export interface RelayedServing {
  /** Rejects with AccessError when the relay does not know the token; resolves after `stop`. */
  readonly ended: Promise<void>;
  /** Ends all connections and leaves the relay. */
  stop(): void;
}

/**
 * Serves devices through a relay, which a page needs because it cannot listen. One connection waits for
 * a client; as soon as it has one, the next waits. A relay that went away is asked again.
 */
export function serveRelay(url: string, options: ServeRelayOptions): RelayedServing {
  checkOptions<ServeRelayOptions>('serveRelay', options, {
    ...SERVE_OPTIONS,
    key: 'text',
    relayToken: 'text',
    maxConnections: 'count',
    retryMs: 'milliseconds',
    onState: 'function',
  });
  for (const name of ['key', 'token'] as const)
    requireKind('serveRelay', 'text', [name, options[name]]);
  const stopped = new AbortController();
  return { ended: keepServing(url, options, stopped.signal), stop: () => stopped.abort() };
}

async function keepServing(
  url: string,
  options: ServeRelayOptions,
  signal: AbortSignal,
): Promise<void> {
  const { executableBytes } = { ...DEFAULT_RPC_LIMITS, ...options.limits };
  const store = options.store ?? new ExecutableStore(executableBytes);
  const { maxConnections = 8, retryMs = 1000 } = options;
  const slots = new ConnectionSlots(maxConnections);
  signal.addEventListener('abort', () => slots.close());
  options.onState?.('connecting');
  while (!signal.aborted) {
    if (slots.isFull) {
      await Promise.race([slots.freed(), untilAborted(signal)]);
      continue;
    }
    const channel = await partner(url, options, signal).catch(async (error: unknown) => {
      if (error instanceof AccessError) throw error;
      if (signal.aborted) return undefined;
      options.onState?.('retrying');
      await pause(retryMs, signal);
      return undefined;
    });
    if (channel === undefined) continue;
    const connection = serveChannel(channel, { ...options, store });
    slots.add(connection);
    if (signal.aborted) connection.close();
  }
}

async function partner(
  url: string,
  { key, onState, ...options }: ServeRelayOptions,
  signal: AbortSignal,
): Promise<Channel> {
  const channel = await openWebSocket(url, signal);
  onState?.('waiting');
  const close = (): void => channel.close();
  signal.addEventListener('abort', close, { once: true });
  try {
    if (signal.aborted) close();
    const relayToken = options.relayToken ?? (await deriveRelayToken(options.token));
    await joinRelay(channel, { role: 'device', key, relayToken, timeoutMs: undefined });
    return channel;
  } finally {
    signal.removeEventListener('abort', close);
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function pause(durationMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, durationMs);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
