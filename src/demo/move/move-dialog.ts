import { copyText, element } from '../element.ts';
import { createToken } from '../../rpc/handshake/create-token.ts';
import { isLoopback, LOCAL_RELAY, PLAIN_HTTP } from '../lend/lend-address.ts';
import { qrPicture } from '../lend/qr-picture.ts';
import { relayCommand } from '../lend/relay-command.ts';
import './move-dialog.css';

const UNREACHABLE =
  'Addresses of this machine lead a phone nowhere, only another browser beside this one. For a phone open this page, ' +
  'and give the relay, by an address of the network, with https and wss.';

export interface MoveDialogEvents {
  /** Another relay was named. */
  readonly onRelay: (relay: KnownRelay) => void;
  /** The dialog was closed by hand. */
  readonly onClose: () => void;
}

/** Asks for a relay, says how to start one, and shows the address that the other device opens. */
export class MoveDialog {
  readonly #root = element('dialog', { class: 'move', 'aria-labelledby': 'move-title' });
  readonly #status = element('p', { class: 'move-state', role: 'status' });
  readonly #code = element('div', { class: 'qr' });
  readonly #link = element('input', { id: 'move-link', type: 'text', readonly: true });
  readonly #share: HTMLElement;
  readonly #command = element('code');
  readonly #start: HTMLElement;
  readonly #url = element('input', {
    id: 'move-url',
    type: 'text',
    inputmode: 'url',
    required: true,
    // As `readFragment` takes it.
    pattern: 'wss?://[^\\s?#@]+',
    spellcheck: 'false',
  });
  readonly #auth = element('input', {
    id: 'move-auth',
    type: 'password',
    required: true,
    minlength: 16,
    autocomplete: 'off',
  });

  constructor(relay: KnownRelay, { onRelay, onClose }: MoveDialogEvents) {
    [this.#url.value, this.#auth.value] = [relay.url, relay.auth];
    this.#share = this.#makeShare();
    this.#start = this.#makeStart();
    const form = this.#makeForm(onRelay);
    this.#root.append(
      element('h2', { id: 'move-title' }, 'Move it to a phone or another browser'),
      element(
        'p',
        {},
        'Scan the code there, or open its address, and what runs here goes on there. It waits meanwhile. The code holds ' +
          'a key that is good for this move only.',
      ),
      this.#status,
      this.#share,
      this.#start,
      form,
      element(
        'form',
        { method: 'dialog', class: 'toolbar' },
        element('button', { type: 'submit', autofocus: true }, 'Stay here'),
      ),
    );
    this.#root.addEventListener('close', onClose);
    document.body.append(this.#root);
    this.#root.showModal();
  }

  /** Shows the relay that the page asks. */
  showAsking(url: string): void {
    this.#say(`Asks the relay at ${url} …`, 'waiting');
  }

  /** The address for the other device. */
  showLink(link: string, { url }: KnownRelay): void {
    this.#say('Waits for the other device.', 'ready');
    this.#link.value = link;
    this.#code.replaceChildren(qrPicture(link, 'The address for the other device as a QR code'));
    const note = element('p', { class: 'notice' }, UNREACHABLE);
    this.#share.querySelector('.notice')?.remove();
    if (isLoopback(link) || isLoopback(url)) this.#share.append(note);
    this.#share.hidden = false;
    this.#start.hidden = true;
  }

  showTaken(): void {
    this.#say('The other device takes it over …', 'ready');
  }

  /** Why the relay cannot be used, and how to start one. */
  showMissing(problem: string, { url, auth }: KnownRelay): void {
    this.#say(problem, 'missing');
    const command = relayCommand({ url, relayToken: auth, origin: location.origin });
    // Written once, so that it can be selected.
    if (this.#command.textContent !== command) this.#command.textContent = command;
    this.#share.hidden = true;
    this.#start.hidden = false;
  }

  close(): void {
    this.#root.close();
    this.#root.remove();
  }

  #say(text: string, state: 'waiting' | 'ready' | 'missing'): void {
    this.#status.dataset['state'] = state;
    // The same text set again would be read out again.
    if (this.#status.textContent !== text) this.#status.textContent = text;
  }

  #makeShare(): HTMLElement {
    const copy = element('button', { type: 'button' }, 'Copy');
    copy.addEventListener('click', () => void copyText(this.#link.value, copy, this.#link));
    const fields = element(
      'div',
      {},
      element('label', { for: 'move-link' }, 'Its address, with the key'),
      this.#link,
      copy,
    );
    return element('div', { class: 'move-share', hidden: true }, this.#code, fields);
  }

  #makeStart(): HTMLElement {
    const copy = element('button', { type: 'button' }, 'Copy');
    copy.addEventListener('click', () => void copyText(this.#command.textContent, copy));
    return element(
      'div',
      { class: 'move-start', hidden: true },
      element(
        'p',
        {},
        'A page cannot listen, so both meet at a relay, which passes on what it cannot read. Start one, where the ' +
          'address below leads; this page asks again each second:',
      ),
      element(
        'pre',
        { class: 'listing', tabindex: 0, role: 'region', 'aria-label': 'Command' },
        this.#command,
      ),
      copy,
      ...(globalThis.isSecureContext ? [] : [element('p', { class: 'notice' }, PLAIN_HTTP)]),
    );
  }

  #makeForm(onRelay: MoveDialogEvents['onRelay']): HTMLFormElement {
    const form = element(
      'form',
      { class: 'move-relay' },
      element('label', { for: 'move-url' }, 'Address of the relay'),
      this.#url,
      element('label', { for: 'move-auth' }, 'What the relay asks for'),
      this.#auth,
      element('button', { type: 'submit' }, 'Ask there'),
    );
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      onRelay({ url: this.#url.value.trim(), auth: this.#auth.value.trim() });
    });
    return form;
  }
}

/** A relay that this browser knows. */
export interface KnownRelay {
  readonly url: string;
  /** The relay's credential. It admits nobody to a connection; each move has a token of its own. */
  readonly auth: string;
}

const STORE = 'weft-relay';
/** Where the documentation puts a relay behind a server that speaks TLS. */
const PROXIED_PATH = '/weft-rpc/';

/** The relay that `npm start` runs, or that of the last move; else that of this machine, or of this site where it is another one. */
export function knownRelay(page: string): KnownRelay {
  const meta = document.querySelector<HTMLMetaElement>('meta[name="weft-relay"]');
  const [own, auth = ''] = meta?.content.split(' ') ?? [];
  if (own !== undefined) return { url: own, auth };
  const usual = isLoopback(page) ? LOCAL_RELAY : `wss://${new URL(page).host}${PROXIED_PATH}`;
  return { url: usual, auth: createToken(), ...kept() };
}

export function keepRelay(relay: KnownRelay): void {
  try {
    localStorage.setItem(STORE, JSON.stringify(relay));
  } catch {
    // Where nothing can be kept, the next move asks for another credential.
  }
}

function kept(): Partial<KnownRelay> {
  try {
    return JSON.parse(localStorage.getItem(STORE) ?? '{}') as Partial<KnownRelay>;
  } catch {
    return {};
  }
}
