import { createToken } from '../../rpc/create-token.ts';
import { type LendAddress, lentDevice, LOCAL_RELAY } from './lend-address.ts';

const DEFAULT_URLS = { relay: LOCAL_RELAY, nats: 'ws://127.0.0.1:9222/' } as const;
const DEFAULT_PLACES = { relay: 'page', nats: 'any' } as const;

/** Shows an address; without one, that of a relay of this machine and a new token. */
export function fillForm(form: HTMLFormElement, address: LendAddress | undefined): void {
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

export function readForm(form: HTMLFormElement): LendAddress {
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
export function showWay(form: HTMLFormElement): void {
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
