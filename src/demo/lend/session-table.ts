import { element, select } from '../element.ts';
import { describeRunning, type ShownSession, type ShownSessions } from './session-log.ts';

/** Calls come by the thousand; the table is written so often. */
const REFRESH_MS = 200;

/** Who is connected, and what runs for them. */
export class SessionTable {
  readonly #table: HTMLElement;
  readonly #body: HTMLElement;
  readonly #nobody: HTMLElement;
  #sessions: ShownSessions = new Map();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(panel: HTMLElement) {
    this.#table = select(panel, 'table');
    this.#body = select(panel, 'tbody');
    this.#nobody = select(panel, '#nobody');
  }

  show(sessions: ShownSessions): void {
    this.#sessions = sessions;
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#write();
    }, REFRESH_MS);
  }

  #write(): void {
    const isEmpty = this.#sessions.size === 0;
    this.#table.hidden = isEmpty;
    this.#nobody.hidden = !isEmpty;
    this.#body.replaceChildren(...[...this.#sessions.values()].map(rowOf));
  }
}

function rowOf(session: ShownSession): HTMLTableRowElement {
  const { peer, loaded, answered } = session;
  return element(
    'tr',
    {},
    element('th', { scope: 'row' }, peer),
    element('td', {}, describeRunning(session)),
    element('td', {}, String(loaded)),
    element('td', {}, String(answered)),
  );
}
