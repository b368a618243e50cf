import { expect, test } from 'vitest';
import { deriveRelayToken } from '../../rpc/handshake/credentials.ts';
import type { LendAddress } from './lend-address.ts';
import { otherSideOf, quoted, relayCommand } from './relay-command.ts';

const TOKEN = 'abcdefghijklmnopqrstuvwxyz234567';
const HERE = 'http://localhost:4173';
const THERE = 'https://weft.example';

const ADDRESS: LendAddress = {
  way: 'relay',
  url: 'ws://127.0.0.1:9190/',
  place: 'phone',
  token: TOKEN,
  auth: '',
  name: '',
  device: 'auto',
};

test.each([
  ['ws://127.0.0.1:9190/', HERE, ''],
  ['ws://localhost:4000/', HERE, ' --port 4000'],
  ['ws://localhost/', HERE, ' --port 80'],
  ['ws://192.168.1.5:9190/', HERE, ' --host 0.0.0.0'],
  ['ws://desk.local:9190/', HERE, ' --host 0.0.0.0 --name desk.local'],
  ['ws://127.0.0.1:9190/', THERE, ' --origin https://weft.example'],
  ['wss://weft.example/weft-rpc/', THERE, ' --origin https://weft.example --trust-proxy'],
])('the relay at %s for pages of %s', (url, origin, flags) => {
  const command = `WEFT_RELAY_TOKEN=${TOKEN} npx weft-vm rpc relay${flags}`;
  expect(relayCommand({ url, relayToken: TOKEN, origin })).toBe(command);
});

test('the relay of a lent device gets what is derived of the token, never the token', async () => {
  const { middle, program } = await otherSideOf(ADDRESS, HERE);
  const relayToken = await deriveRelayToken(TOKEN);
  expect(middle).toBe(`WEFT_RELAY_TOKEN=${relayToken} npx weft-vm rpc relay`);
  expect(program).toBe(
    `WEFT_RPC_TOKEN=${TOKEN} npx weft-vm rpc bench model.weft --relay ws://127.0.0.1:9190/ --key phone`,
  );
});

test('a relay with a credential of its own, and a broker', async () => {
  const auth = 'the credential of a relay';
  const relay = await otherSideOf({ ...ADDRESS, auth }, HERE);
  expect(relay.middle).toBe(`WEFT_RELAY_TOKEN='${auth}' npx weft-vm rpc relay`);
  expect(relay.program).toContain(`WEFT_RPC_TOKEN=${TOKEN} WEFT_RELAY_TOKEN='${auth}' npx`);
  const nats = await otherSideOf(
    { ...ADDRESS, way: 'nats', url: 'wss://nats.example/', place: 'lab', auth: 'SUA' },
    HERE,
  );
  expect(nats.program).toBe(
    "WEFT_NATS_AUTH=SUA npx weft-vm rpc devices --nats wss://nats.example/ 'group=lab'",
  );
});

test('a token that could be guessed is refused', async () => {
  await expect(otherSideOf({ ...ADDRESS, token: 'short' }, HERE)).rejects.toThrow(
    'token of a remote connection: got 5 characters',
  );
});

test('what a shell would read is quoted', () => {
  expect(quoted("it's $(rm)")).toBe(`'it'\\''s $(rm)'`);
  expect(quoted('')).toBe("''");
});
