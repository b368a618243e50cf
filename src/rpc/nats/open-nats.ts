import {
  type Authenticator,
  credsAuthenticator,
  type NatsConnection,
  nkeyAuthenticator,
  tokenAuthenticator,
  type WsConnectionOptions,
  wsconnect,
} from '@nats-io/nats-core';
import { checkOptions } from '../../core/check-options.ts';
import { UsageError } from '../../core/errors.ts';
import { asRpcError } from './open-channel.ts';

/** How a broker knows this side. */
export interface OpenNatsOptions {
  /** This side's credentials for the broker: a token, the seed of an nkey, or a credentials file's text. */
  readonly auth?: string | undefined;
  /** The name of this side in the broker's reports. */
  readonly name?: string | undefined;
}

/**
 * Connects to NATS over a WebSocket, the way of pages. Node may as well use
 * `@nats-io/transport-node`; whatever gives a `NatsConnection` does. Rejects with AccessError when the broker
 * refuses, with RemoteLostError when it is not there, with UsageError for a bad address.
 */
export async function openNats(url: string, given: OpenNatsOptions = {}): Promise<NatsConnection> {
  checkOptions<OpenNatsOptions>('openNats', given, { auth: 'text', name: 'text' });
  const { auth, name = 'weft' } = given;
  const { protocol } = checkNatsUrl(url);
  if (!/^wss?:$/.test(protocol)) throw badAddress('another protocol', 'ws://… or wss://…');
  const options: WsConnectionOptions = {
    servers: url,
    name,
    maxReconnectAttempts: -1,
    ignoreClusterUpdates: true,
    ...(auth !== undefined && { authenticator: authenticatorOf(auth) }),
    ...(typeof globalThis.WebSocket !== 'function' && { wsFactory: nodeSocket }),
  };
  try {
    return await wsconnect(options);
  } catch (error) {
    throw asRpcError(error, url);
  }
}

/** Throws UsageError for an address that holds secrets, or is none. */
export function checkNatsUrl(url: string): URL {
  if (!URL.canParse(url)) throw badAddress('no address', 'ws://host:port or nats://host:port');
  const parsed = new URL(url);
  const { search, username, password } = parsed;
  if (search !== '' || username !== '' || password !== '') {
    throw badAddress('an address with a query or a user', 'one without');
  }
  return parsed;
}

/** Tells a token from the seed of an nkey and from credentials. */
export function authenticatorOf(auth: string): Authenticator {
  const text = auth.trim();
  const bytes = new TextEncoder().encode(text);
  if (text.includes('BEGIN NATS USER JWT')) return credsAuthenticator(bytes);
  if (/^SU[A-Z2-7]{56}$/.test(text)) return nkeyAuthenticator(bytes);
  return tokenAuthenticator(text);
}

function badAddress(got: string, expected: string): UsageError {
  return new UsageError({
    where: 'address of NATS',
    got,
    expected,
    remedy: 'Tokens and keys are options; they are never part of an address.',
  });
}

/** Node before 22 has no sockets of its own. */
const nodeSocket: NonNullable<WsConnectionOptions['wsFactory']> = async (url) => {
  const { WebSocket } = await import('ws');
  const socket = new WebSocket(url) as unknown as globalThis.WebSocket;
  socket.binaryType = 'arraybuffer';
  return { socket, encrypted: url.startsWith('wss:') };
};
