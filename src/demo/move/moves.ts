import type { DemoContext } from '../demo-context.ts';
import { byId } from '../element.ts';
import { readFragment } from '../lend/lend-address.ts';
import type { Arrival, Destination, Movable, Parcel, WayBack } from './parcel.ts';
import { moveToTab, takeFromTab } from './tab-parcels.ts';

/** A way to another page. Resolves to the way back, to undefined where it does not go on there. */
type Way = (section: string, packing: Promise<Parcel>) => Promise<WayBack>;

/**
 * Moves a section to other pages and back. Its buttons are `PREFIX-move` to another tab, `PREFIX-send` to another device, and
 * `PREFIX-back`; what another device needs is loaded then.
 */
export class Moves {
  readonly #movable: Movable;
  readonly #context: DemoContext;
  readonly #back: HTMLButtonElement;
  /** Offers it to the page that it came from. */
  #offer = new AbortController();
  #wayBack = '';

  constructor(prefix: string, movable: Movable, context: DemoContext) {
    [this.#movable, this.#context] = [movable, context];
    this.#back = byId(`${prefix}-back`, HTMLButtonElement);
    this.#back.addEventListener('click', () => {
      history.replaceState(null, '', `#${movable.section}&${this.#wayBack}`);
      movable.comeBack().catch((error: unknown) => context.fail(error));
    });
    const listen = (id: string, to: Destination, way: Way): void =>
      byId(`${prefix}-${id}`, HTMLButtonElement).addEventListener('click', () => {
        this.#start(to, way).catch((error: unknown) => context.fail(error));
      });
    listen('move', 'another tab', moveToTab);
    listen('send', 'another device', async (section, packing) => {
      const { moveToDevice } = await import('./move-to-device.ts');
      return moveToDevice(section, await packing);
    });
  }

  /**
   * Loads the section with what another page hands over, where the address says so, and tells that page whether it goes on
   * here. Where nothing arrives, the error is shown, and the section begins by itself.
   */
  async arrive(
    onStatus: (text: string) => void,
    load: (parcel?: Parcel) => Promise<void>,
  ): Promise<void> {
    this.#back.hidden = true;
    const { section } = this.#movable;
    const { hash } = location;
    if (!hash.startsWith(`#${section}&`)) return load();
    onStatus('Asks the other page …');
    // A reload goes on with what this browser has stored, and nobody reads a token in the address bar.
    history.replaceState(null, '', `#${section}`);
    const arrival = await take(hash).catch((error: unknown) => {
      this.#context.fail(error);
      return undefined;
    });
    try {
      await load(arrival);
    } catch (error) {
      arrival?.refuse();
      throw error;
    }
    await arrival?.confirm();
    if (arrival !== undefined) void this.#offerBack(arrival);
  }

  async #start(to: Destination, way: Way): Promise<void> {
    const { section } = this.#movable;
    this.#offer.abort();
    // Held at once, however long the way is.
    const packing = this.#movable.pack();
    const packed = packing.catch(() => undefined);
    const back = await way(section, packing).catch((error: unknown) => {
      this.#context.fail(error);
      return undefined;
    });
    await packed;
    if (back === undefined) this.#movable.goOn();
    else await this.#leave(to, back);
  }

  async #offerBack({ giveBack, from }: Arrival): Promise<void> {
    this.#offer = new AbortController();
    const onLost = (): void => this.#movable.goOn();
    const options = { signal: this.#offer.signal, onLost };
    const back = await giveBack(() => this.#movable.pack(), options).catch(() => undefined);
    if (back !== undefined) await this.#leave(from, back);
  }

  async #leave(to: Destination, back: string): Promise<void> {
    await this.#movable.leave(to);
    this.#wayBack = back;
    this.#back.hidden = false;
  }
}

/** Takes the program that a fragment names from another page. Rejects where that does not answer. */
async function take(fragment: string): Promise<Arrival> {
  const relay = readFragment(fragment);
  if (relay === undefined) return takeFromTab(fragment);
  const { takeFromRelay } = await import('./relay-parcels.ts');
  return takeFromRelay(relay);
}

/** Says where a section goes on, and what can be done here. */
export function describeLeft(what: string, to: Destination): string {
  const place = to === 'another tab' ? 'in the other tab' : 'on the other device';
  return `${what} continues ${place}. Here you may bring it back, or begin anew.`;
}

/** Buttons by their ids: those of a program that is not loaded, is held or has left do nothing. */
export function enable(ids: readonly string[], areEnabled: boolean): void {
  for (const id of ids) byId(id, HTMLButtonElement).disabled = !areEnabled;
}
