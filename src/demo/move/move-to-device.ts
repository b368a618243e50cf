import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { AccessError } from '../../rpc/errors.ts';
import { createToken } from '../../rpc/handshake/create-token.ts';
import { serveRelay, type ServeRelayOptions } from '../../rpc/serve-relay.ts';
import { RpcTuple } from '../../rpc/values/rpc-value.ts';
import { type LendAddress, writeFragment } from '../lend/lend-address.ts';
import { type KnownRelay, keepRelay, knownRelay } from './known-relay.ts';
import { MoveDialog } from './move-dialog.ts';
import type { Parcel } from './parcel.ts';
import { ARRIVED, MOVE_LIMITS, TAKE } from './relay-words.ts';

const AGAIN_MS = 1000;

/** Shows the code for another device until all goes on there: false for a dialog that was closed before. */
export async function moveToDevice(section: string, parcel: Parcel): Promise<boolean> {
  return new Move(section).run(parcel);
}

class Move {
  readonly #section: string;
  readonly #dialog: MoveDialog;
  /** New with each move, so that an address which was used or seen is worth nothing later. */
  readonly #key = createToken();
  readonly #token = createToken();
  #relay = knownRelay(location.href);
  #attempt = new AbortController();
  #isClosed = false;

  constructor(section: string) {
    this.#section = section;
    this.#dialog = new MoveDialog(this.#relay, {
      onRelay: (relay) => {
        this.#relay = relay;
        this.#attempt.abort();
      },
      onClose: () => {
        this.#isClosed = true;
        this.#attempt.abort();
      },
    });
  }

  /** Asks until somebody took it, or the dialog was closed. */
  async run(parcel: Parcel): Promise<boolean> {
    try {
      while (!this.#isClosed) {
        this.#attempt = new AbortController();
        if (await this.#try(parcel, this.#attempt.signal)) return true;
      }
      return false;
    } finally {
      this.#dialog.close();
    }
  }

  async #try(parcel: Parcel, signal: AbortSignal): Promise<boolean> {
    const relay = this.#relay;
    const address = this.#address(relay);
    try {
      const onState = (state: MoveState): void => this.#show(state, relay, address);
      return await handOver(parcel, address, { signal, onState });
    } catch (error) {
      if (!(error instanceof AccessError)) throw error;
      this.#dialog.showMissing(`The relay at ${relay.url} asks for something else.`, relay);
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      return false;
    }
  }

  #show(state: MoveState, relay: KnownRelay, address: LendAddress): void {
    switch (state) {
      case 'connecting':
        return this.#dialog.showAsking(relay.url);
      case 'retrying':
        return this.#dialog.showMissing(`No relay answers at ${relay.url}`, relay);
      case 'waiting':
        keepRelay(relay);
        return this.#dialog.showLink(linkOf(this.#section, address), relay);
      case 'taken':
        return this.#dialog.showTaken();
      default:
        throw new Error(`internal: unknown state ${String(state satisfies never)}`);
    }
  }

  #address({ url, auth }: KnownRelay): LendAddress {
    const who = { place: this.#key.slice(0, 12), token: this.#token, name: '' };
    return { way: 'relay', url, auth, device: 'auto', ...who };
  }
}

/** This page at a section, with what it needs to take over in the fragment, which browsers send to nobody. */
function linkOf(section: string, address: LendAddress): string {
  const page = new URL('#', location.href);
  page.search = '';
  page.hash = `${section}&${writeFragment(address).slice(1)}`;
  return page.href;
}

/** How far a move is; that of the relay, or a page has come. */
export type MoveState = Parameters<NonNullable<ServeRelayOptions['onState']>>[0] | 'taken';

interface HandOverOptions {
  readonly signal: AbortSignal;
  readonly onState: (state: MoveState) => void;
}

/**
 * Gives a parcel to the page that comes to the relay with the token, one at a time. Resolves to whether it goes on there: false when
 * the signal aborts before. Rejects with AccessError where the relay has another credential.
 */
export async function handOver(
  parcel: Parcel,
  { url, place: key, token, auth: relayToken }: LendAddress,
  { signal, onState }: HandOverOptions,
): Promise<boolean> {
  const { note, snapshot } = parcel;
  let hasArrived = false;
  const serving = serveRelay(url, {
    key,
    token,
    relayToken,
    // A relay is somebody else's: it passes on what it cannot read.
    encrypt: true,
    devices: [],
    name: 'the page that hands over',
    maxConnections: 1,
    limits: MOVE_LIMITS,
    offer: {
      [TAKE]: () => new RpcTuple([note, new HostTensor('uint8', [snapshot.byteLength], snapshot)]),
      [ARRIVED]: () => {
        hasArrived = true;
      },
    },
    onState,
    onEvent: ({ kind }) => {
      if (kind === 'connected') onState('taken');
      if (kind === 'closed' && hasArrived) serving.stop();
    },
  });
  signal.addEventListener('abort', () => serving.stop(), { once: true });
  await serving.ended;
  return hasArrived;
}
