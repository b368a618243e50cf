import { byId, select } from '../element.ts';
import { fillForm, readForm, showWay } from './address-form.ts';
import { describeError } from '../../core/format-quantity.ts';
import { copyText } from '../copy-text.ts';
import {
  isLoopback,
  type LendAddress,
  PLAIN_HTTP,
  readFragment,
  writeFragment,
} from './lend-address.ts';
import type { FromWorker, ToWorker } from './lend-messages.ts';
import { otherSideOf } from './other-side.ts';
import { qrPicture } from './qr-picture.ts';
import { afterEvent, type ShownConnections } from './connection-log.ts';
import { ConnectionTable } from './connection-table.ts';

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
