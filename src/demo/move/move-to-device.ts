import { createToken } from '../../rpc/handshake/create-token.ts';
import { AccessError } from '../../rpc/errors.ts';
import { type LendAddress, writeFragment } from '../lend/lend-address.ts';
import { handOver, type MoveState } from './hand-over.ts';
import { type KnownRelay, keepRelay, knownRelay } from './known-relay.ts';
import { MoveDialog } from './move-dialog.ts';
import type { Parcel } from './parcel.ts';

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
