import { AccessError } from '../../rpc/errors.ts';
import type { LendAddress } from '../lend/lend-address.ts';
import { keepRelay, knownRelay, type KnownRelay, MoveDialog } from './move-dialog.ts';
import type { Parcel, WayBack } from './parcel.ts';
import { fragmentOf, handOver, type MoveState, newAddress } from './relay-parcels.ts';

const AGAIN_MS = 1000;

/** Shows the code for another device until all goes on there. Resolves to the way back, to undefined for a dialog that was closed before. */
export async function moveToDevice(section: string, parcel: Parcel): Promise<WayBack> {
  return new Move(section).run(parcel);
}

class Move {
  readonly #section: string;
  readonly #dialog: MoveDialog;
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
  async run(parcel: Parcel): Promise<WayBack> {
    try {
      while (!this.#isClosed) {
        this.#attempt = new AbortController();
        const back = await this.#try(parcel, newAddress(this.#relay));
        if (back !== undefined) return back;
      }
      return undefined;
    } finally {
      this.#dialog.close();
    }
  }

  async #try(parcel: Parcel, address: LendAddress): Promise<WayBack> {
    const relay = this.#relay;
    const { signal } = this.#attempt;
    try {
      const onState = (state: MoveState): void => this.#show(state, relay, address);
      return await handOver(async () => parcel, address, {
        signal,
        onState,
        onLost: () => undefined,
      });
    } catch (error) {
      if (!(error instanceof AccessError)) throw error;
      this.#dialog.showMissing(`The relay at ${relay.url} asks for something else.`, relay);
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      return undefined;
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
}

/** This page at a section, with what it needs to take over in the fragment, which browsers send to nobody. */
function linkOf(section: string, address: LendAddress): string {
  const page = new URL('#', location.href);
  page.search = '';
  page.hash = `${section}&${fragmentOf(address)}`;
  return page.href;
}
