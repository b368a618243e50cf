import { deriveRelayToken } from '../../rpc/handshake/credentials.ts';
import { shellQuoted } from '../../core/shell-quoted.ts';
import { isLoopback, type LendAddress } from './lend-address.ts';

export interface RelayCommandOptions {
  /** The address by which devices find the relay. */
  readonly url: string;
  /** The credential that the relay requires. */
  readonly relayToken: string;
  /** The origin of the pages that meet there. */
  readonly origin: string;
}

/** The default of `weft rpc relay --port`. */
const RELAY_PORT = '9190';

/** The command that starts a relay. One of `wss:` stands behind a server that speaks TLS. */
export function relayCommand({ url, relayToken, origin }: RelayCommandOptions): string {
  const { protocol, hostname, port } = new URL(url);
  const isBehindProxy = protocol === 'wss:';
  const ownPort = port === '' ? '80' : port;
  const flags = [
    ...(isBehindProxy || ownPort === RELAY_PORT ? [] : ['--port', ownPort]),
    ...(isBehindProxy || isLoopback(url) ? [] : ['--host', '0.0.0.0']),
    ...(isBehindProxy || isLoopback(url) || /^[\d.]+$|^\[/.test(hostname)
      ? []
      : ['--name', hostname]),
    ...(isLoopback(origin) ? [] : ['--origin', origin]),
    ...(isBehindProxy ? ['--trust-proxy'] : []),
  ];
  return [`WEFT_RELAY_TOKEN=${quoted(relayToken)} npx weft-vm rpc relay`, ...flags].join(' ');
}

/** Quotes an argument for a shell, only where that is needed. */
export function quoted(text: string): string {
  return /^[\w.:/-]+$/.test(text) ? text : shellQuoted(text);
}

/** Commands to start on the other side of an address. */
interface OtherSide {
  /** Starts the relay or NATS server that both sides connect to. */
  readonly middle: string;
  /** Starts a program that uses the device. */
  readonly program: string;
}

/** Commands with what an address says. Rejects with UsageError for a token that is too short. */
export async function otherSideOf(address: LendAddress, origin: string): Promise<OtherSide> {
  const { way, url, place, token, auth } = address;
  const own =
    auth === '' ? [] : [`WEFT_${way === 'nats' ? 'NATS_AUTH' : 'RELAY_TOKEN'}=${quoted(auth)}`];
  if (way === 'nats') {
    const query = quoted(`group=${place}`);
    return {
      middle: 'nats-server --config nats.conf',
      program: [...own, `npx weft-vm rpc devices --nats ${quoted(url)} ${query}`].join(' '),
    };
  }
  const relayToken = auth === '' ? await deriveRelayToken(token) : auth;
  const bench = `npx weft-vm rpc bench model.weft --relay ${quoted(url)} --key ${quoted(place)}`;
  return {
    middle: relayCommand({ url, relayToken, origin }),
    program: [`WEFT_RPC_TOKEN=${quoted(token)}`, ...own, bench].join(' '),
  };
}
