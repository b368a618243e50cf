/** The address at which `weft rpc relay` listens by default. */
export const LOCAL_RELAY = 'ws://127.0.0.1:9190/';

/** Why a page can reach nobody, where the browser hides WebCrypto from it. */
export const PLAIN_HTTP =
  'This page came over plain http from another machine. Browsers give such pages neither WebGPU nor ' +
  'cryptography: open it by https.';

/** The relay or the fleet to which the page lends its device. */
export interface LendAddress {
  readonly way: 'relay' | 'nats';
  readonly url: string;
  /** The key of a relay, or the group of a fleet. */
  readonly place: string;
  readonly token: string;
  /** The credential for NATS, or for the relay where that is not derived from the token. */
  readonly auth: string;
  readonly name: string;
  readonly device: LentDevice;
}

export type LentDevice = 'auto' | 'webgpu' | 'wasm' | 'host';

/**
 * The fragment of an address, behind `#`: `relay=ws://…&key=…&token=…` or `nats=ws://…&group=…&token=…`, and
 * perhaps `auth`, `name` and `device`. Browsers send no fragment to any server. Undefined when there is
 * no relay and no NATS in it.
 */
export function readFragment(fragment: string): LendAddress | undefined {
  const fields = new URLSearchParams(fragment.replace(/^#/, ''));
  const read = (name: string): string => (fields.get(name) ?? '').slice(0, 500);
  const way = fields.has('nats') ? 'nats' : 'relay';
  const url = read(way);
  if (!/^wss?:\/\/[^\s?#@]+$/.test(url)) return undefined;
  return {
    way,
    url,
    place: read(way === 'nats' ? 'group' : 'key'),
    token: read('token'),
    auth: read('auth'),
    name: read('name').slice(0, 60),
    device: lentDevice(read('device')),
  };
}

/** `auto` for what is no device. */
export function lentDevice(text: string): LentDevice {
  return (['webgpu', 'wasm', 'host'] as const).find((device) => device === text) ?? 'auto';
}

/** The inverse of {@link readFragment}, with `#`. */
export function writeFragment({ way, url, place, token, auth, name, device }: LendAddress): string {
  const fields = new URLSearchParams({
    [way]: url,
    [way === 'nats' ? 'group' : 'key']: place,
    token,
  });
  if (auth !== '') fields.set('auth', auth);
  if (name !== '') fields.set('name', name);
  if (device !== 'auto') fields.set('device', device);
  return `#${fields.toString()}`;
}

/** Returns true if an address means the machine that opens it. */
export function isLoopback(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { hostname } = new URL(url);
  return /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}
