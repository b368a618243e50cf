import { element, select } from '../element.ts';
import { describeRunning, type ShownConnection, type ShownConnections } from './connection-log.ts';

/** Calls come by the thousand; the table is written so often. */
const REFRESH_MS = 200;

/** Who is connected, and what runs for them. */
export class ConnectionTable {
  readonly #table: HTMLElement;
  readonly #body: HTMLElement;
  readonly #nobody: HTMLElement;
  #connections: ShownConnections = new Map();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(panel: HTMLElement) {
    this.#table = select(panel, 'table');
    this.#body = select(panel, 'tbody');
    this.#nobody = select(panel, '#nobody');
  }

  show(connections: ShownConnections): void {
    this.#connections = connections;
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#write();
    }, REFRESH_MS);
  }

  #write(): void {
    const isEmpty = this.#connections.size === 0;
    this.#table.hidden = isEmpty;
    this.#nobody.hidden = !isEmpty;
    this.#body.replaceChildren(...[...this.#connections.values()].map(rowOf));
  }
}

function rowOf(connection: ShownConnection): HTMLTableRowElement {
  const { peer, loaded, answered } = connection;
  return element(
    'tr',
    {},
    element('th', { scope: 'row' }, peer),
    element('td', {}, describeRunning(connection)),
    element('td', {}, String(loaded)),
    element('td', {}, String(answered)),
  );
}
