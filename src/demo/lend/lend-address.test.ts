import { expect, test } from 'vitest';
import { isLoopback, type LendAddress, readFragment, writeFragment } from './lend-address.ts';

const RELAY: LendAddress = {
  way: 'relay',
  url: 'ws://192.168.1.5:9190/',
  place: 'phone',
  token: 'a token with & and = and more',
  auth: '',
  name: 'Grüße 1',
  device: 'host',
};
const NATS: LendAddress = {
  ...RELAY,
  way: 'nats',
  url: 'wss://nats.example/weft',
  place: 'any',
  auth: 'S3cret#?',
  name: '',
  device: 'auto',
};

test.each([RELAY, NATS])('a fragment says to whom: $way', (address) => {
  const fragment = writeFragment(address);
  expect(readFragment(fragment)).toEqual(address);
  // Nothing of it is sent with a request for the page.
  const url = new URL(`https://weft.example/rpc.html${fragment}`);
  expect(url.search).toBe('');
  expect(url.pathname).toBe('/rpc.html');
});

test.each([
  '',
  '#',
  '#key=a&token=b',
  '#relay=javascript:alert(1)',
  '#relay=http://a',
  '#nats=ws://u@h',
])('a fragment that names nobody: %s', (fragment) =>
  expect(readFragment(fragment)).toBeUndefined(),
);

test('what is missing is empty, an unknown device any', () => {
  expect(readFragment('#relay=ws://a:1/&device=tpu')).toEqual({
    way: 'relay',
    url: 'ws://a:1/',
    place: '',
    token: '',
    auth: '',
    name: '',
    device: 'auto',
  });
});

test.each([
  ['ws://localhost:1/', true],
  ['http://127.0.0.1:5173/rpc.html', true],
  ['ws://[::1]:9190/', true],
  ['ws://192.168.1.5/', false],
  ['wss://localhost.example/', false],
  ['nonsense', false],
])('%s is of this machine: %s', (url, expected) => expect(isLoopback(url)).toBe(expected));
