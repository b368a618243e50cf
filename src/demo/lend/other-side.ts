import { deriveRelayToken } from '../../rpc/credentials.ts';
import type { LendAddress } from './lend-address.ts';
import { quoted, relayCommand } from './relay-command.ts';

/** Commands to start on the other side of an address. */
export interface OtherSide {
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
