import { readFile } from 'node:fs/promises';
import type { NatsConnection } from '@nats-io/nats-core';
import { UsageError } from '../../core/errors.ts';
import { openNats, type OpenNatsOptions } from '../../rpc/nats/index.ts';
import { authenticatorOf, checkNatsUrl } from '../../rpc/nats/open-nats.ts';
import { asRpcError } from '../../rpc/nats/open-channel.ts';

/** The environment variable that holds what the broker asks for, where no file is named. */
const AUTH_VARIABLE = 'WEFT_NATS_AUTH';

/** Connects to NATS over TCP (`nats://`), TLS (`tls://`) or a WebSocket (`ws://`, `wss://`). */
export async function openBroker(
  url: string,
  { auth, name = 'weft' }: OpenNatsOptions = {},
): Promise<NatsConnection> {
  const { protocol } = checkNatsUrl(url);
  if (/^wss?:$/.test(protocol)) return openNats(url, { auth, name });
  if (!/^(nats|tls):$/.test(protocol)) {
    throw new UsageError({
      where: 'address of NATS',
      got: `the protocol ${protocol}`,
      expected: 'nats:, tls:, ws: or wss:',
    });
  }
  const { connect } = await importTransport(protocol);
  try {
    return await connect({
      servers: url,
      name,
      maxReconnectAttempts: -1,
      ignoreClusterUpdates: true,
      ...(protocol === 'tls:' && { tls: {} }),
      ...(auth !== undefined && { authenticator: authenticatorOf(auth) }),
    });
  } catch (error) {
    throw asRpcError(error, url);
  }
}

/** The package that speaks with NATS over TCP, which is installed only where it is wanted. */
async function importTransport(protocol: string) {
  try {
    return await import('@nats-io/transport-node');
  } catch (cause) {
    throw new UsageError(
      {
        where: 'address of NATS',
        got: `the protocol ${protocol} without the package "@nats-io/transport-node"`,
        expected: 'that package, or a broker that listens for WebSockets',
        remedy: 'Run `npm install @nats-io/transport-node`, or use an address with ws: or wss:.',
      },
      { cause },
    );
  }
}

/** The credential for the broker: never among the arguments, which everybody on the machine can read. */
export async function readNatsAuth(file: string | undefined): Promise<string | undefined> {
  return file === undefined ? process.env[AUTH_VARIABLE] : (await readFile(file, 'utf8')).trim();
}
