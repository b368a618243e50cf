import { describeError } from '../../core/format-quantity.ts';
import { createToken } from '../../rpc/handshake/create-token.ts';
import { byId, copyText, element, select } from '../element.ts';
import {
  afterEvent,
  describeRunning,
  type ShownConnection,
  type ShownConnections,
} from './connection-log.ts';
import {
  isLoopback,
  type LendAddress,
  lentDevice,
  LOCAL_RELAY,
  PLAIN_HTTP,
  readFragment,
  writeFragment,
} from './lend-address.ts';
import type { FromWorker, ToWorker } from './lend-messages.ts';
import { qrPicture } from './qr-picture.ts';
import { otherSideOf } from './relay-command.ts';

const DEFAULT_URLS = { relay: LOCAL_RELAY, nats: 'ws://127.0.0.1:9222/' } as const;
const DEFAULT_PLACES = { relay: 'page', nats: 'any' } as const;

/** Shows an address; without one, that of a relay of this machine and a new token. */
function fillForm(form: HTMLFormElement, address: LendAddress | undefined): void {
  const way = address?.way ?? 'relay';
  for (const radio of form.querySelectorAll<HTMLInputElement>('input[name="way"]')) {
    radio.checked = radio.value === way;
  }
  const values = {
    url: address?.url ?? DEFAULT_URLS[way],
    place: address?.place || DEFAULT_PLACES[way],
    token: address?.token || createToken(),
    auth: address?.auth ?? '',
    name: address?.name ?? '',
    device: address?.device ?? 'auto',
  };
  for (const [name, value] of Object.entries(values)) field(form, name).value = value;
  showWay(form);
}

function readForm(form: HTMLFormElement): LendAddress {
  return {
    way: wayOf(form),
    url: field(form, 'url').value.trim(),
    place: field(form, 'place').value.trim(),
    token: field(form, 'token').value.trim(),
    auth: field(form, 'auth').value.trim(),
    name: field(form, 'name').value.trim(),
    device: lentDevice(field(form, 'device').value),
  };
}

/** Shows what belongs to the chosen way, and replaces what is a default of the other one. */
function showWay(form: HTMLFormElement): void {
  const way = wayOf(form);
  for (const element of document.querySelectorAll<HTMLElement>('[data-way]')) {
    element.hidden = element.dataset['way'] !== way;
  }
  const other = way === 'nats' ? 'relay' : 'nats';
  const [url, place] = [field(form, 'url'), field(form, 'place')];
  if (url.value === DEFAULT_URLS[other]) url.value = DEFAULT_URLS[way];
  if (place.value === DEFAULT_PLACES[other]) place.value = DEFAULT_PLACES[way];
}

function wayOf(form: HTMLFormElement): 'relay' | 'nats' {
  return new FormData(form).get('way') === 'nats' ? 'nats' : 'relay';
}

function field(form: HTMLFormElement, name: string): HTMLInputElement | HTMLSelectElement {
  const found = form.elements.namedItem(name);
  if (found instanceof HTMLInputElement || found instanceof HTMLSelectElement) return found;
  throw new Error(`internal: rpc.html has no field ${name}`);
}

/** Calls come by the thousand; the table is written so often. */
const REFRESH_MS = 200;

/** Who is connected, and what runs for them. */
class ConnectionTable {
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

/** A worker that does not end by itself after `stop` is ended. */
const STOP_MS = 2000;

const form = byId('address', HTMLFormElement);
const notice = byId('notice', HTMLElement);
const state = byId('state', HTMLElement);
const start = byId('start', HTMLButtonElement);
const stop = byId('stop', HTMLButtonElement);
const share = byId('share', HTMLDetailsElement);
const otherSide = byId('other-side', HTMLDetailsElement);
const table = new ConnectionTable(byId('connections-panel', HTMLElement));

let worker: Worker | undefined;
let device = '';
let connections: ShownConnections = new Map();

setUp();

function setUp(): void {
  fillForm(form, takeAddress());
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    lend(readForm(form));
  });
  form.addEventListener('input', () => {
    showWay(form);
    if (share.open) showCode();
    if (otherSide.open) void showOtherSide();
  });
  if (!globalThis.isSecureContext) {
    start.disabled = true;
    showNotice(PLAIN_HTTP);
  }
  stop.addEventListener('click', stopLending);
  share.addEventListener('toggle', () => {
    if (share.open) showCode();
  });
  otherSide.addEventListener('toggle', () => {
    if (otherSide.open) void showOtherSide();
  });
  const [copy, link] = [byId('copy', HTMLButtonElement), byId('link', HTMLInputElement)];
  copy.addEventListener('click', () => void copyText(link.value, copy, link));
  // An address is opened again in a page that is open: the browser changes the fragment only.
  globalThis.addEventListener('hashchange', () => {
    if (worker === undefined && location.hash !== '') fillForm(form, takeAddress());
  });
}

/**
 * The address that the page was opened by. It leaves the address bar, where others could read the token,
 * and stays with this entry of the history, so that a reload finds it.
 */
function takeAddress(): LendAddress | undefined {
  const given = readFragment(location.hash);
  const kept = history.state as { readonly lend?: string } | null;
  if (location.hash !== '') {
    const next = given === undefined ? kept : { lend: writeFragment(given) };
    history.replaceState(next, '', location.pathname);
  }
  return given ?? (kept?.lend === undefined ? undefined : readFragment(kept.lend));
}

function lend(address: LendAddress): void {
  worker?.terminate();
  worker = new Worker(new URL('./lend-worker.ts', import.meta.url), { type: 'module' });
  const current = worker;
  current.addEventListener('message', ({ data }: MessageEvent<FromWorker>) => {
    if (current === worker) take(data, address);
  });
  current.addEventListener('error', ({ message }) => finish(message || 'The worker failed.'));
  tell({ kind: 'start', address });
  notice.hidden = true;
  connections = new Map();
  table.show(connections);
  setLending(true);
  showState('Opens the device …', 'waiting');
  stop.focus();
}

function take(message: FromWorker, { way, url, place }: LendAddress): void {
  const where = way === 'nats' ? `group ${place} of NATS at ${url}` : `${place} at ${url}`;
  switch (message.kind) {
    case 'device':
      device = message.names[0] ?? 'a device';
      if (message.note !== undefined) {
        showNotice(`No WebGPU here, so the CPU is lent. The reason: ${message.note}`);
      }
      break;
    case 'state':
      if (message.state === 'connecting') showState(`Connects to ${where} …`, 'waiting');
      if (message.state === 'waiting') showState(`Lends ${device} as ${where}.`, 'lent');
      if (message.state === 'retrying') showState(`No answer; asks ${where} again …`, 'waiting');
      break;
    case 'event':
      connections = afterEvent(connections, message.event);
      table.show(connections);
      break;
    case 'ended':
      finish(message.error);
      break;
    default:
      throw new Error(`internal: unknown message ${String(message satisfies never)}`);
  }
}

function stopLending(): void {
  const current = worker;
  tell({ kind: 'stop' });
  showState('Stops …', 'waiting');
  setTimeout(() => {
    if (current !== undefined && current === worker) finish();
  }, STOP_MS);
}

function finish(error?: string): void {
  worker?.terminate();
  worker = undefined;
  connections = new Map();
  table.show(connections);
  setLending(false);
  showState('Not lent.', 'idle');
  if (error !== undefined) showNotice(error);
  start.focus();
}

function setLending(isLending: boolean): void {
  start.hidden = isLending;
  stop.hidden = !isLending;
  byId('connections-panel', HTMLElement).hidden = !isLending;
  form.inert = isLending;
}

function showState(text: string, kind: 'idle' | 'waiting' | 'lent'): void {
  state.dataset['state'] = kind;
  state.textContent = text;
}

function showNotice(text: string): void {
  notice.textContent = text;
  notice.hidden = false;
}

function showCode(): void {
  const address = readForm(form);
  const page = `${location.origin}${location.pathname}`;
  // The other device says itself what it is called.
  const link = `${page}${writeFragment({ ...address, name: '' })}`;
  byId('link', HTMLInputElement).value = link;
  byId('code', HTMLElement).replaceChildren(qrPicture(link, 'The address as a QR code'));
  byId('loopback', HTMLElement).hidden = !(isLoopback(page) || isLoopback(address.url));
}

async function showOtherSide(): Promise<void> {
  const address = readForm(form);
  const shown = await otherSideOf(address, location.origin).catch((error: unknown) => ({
    middle: describeError(error),
    program: '',
  }));
  // A token that is stretched takes a while, and may be another one by then.
  if (writeFragment(readForm(form)) !== writeFragment(address)) return;
  byId('middle', HTMLElement).textContent = shown.middle;
  byId('program', HTMLElement).textContent = shown.program;
}

function tell(message: ToWorker): void {
  worker?.postMessage(message);
}

// Tests and tools wait for it.
select(document, 'html').dataset['ready'] = 'true';
