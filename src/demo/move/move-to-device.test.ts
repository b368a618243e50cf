import { once } from 'node:events';
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Relay, startRelay } from '../../cli/rpc/start-relay.ts';
import { connect, createToken, deriveRelayToken } from '../../rpc/index.ts';
import { type LendAddress, readFragment } from '../lend/lend-address.ts';
import type { Parcel } from './parcel.ts';
import { handOver, type MoveState, takeFromRelay } from './relay-parcels.ts';

const AUTH = createToken();
const PARCEL: Parcel = {
  note: '{"words":"Grüße"}',
  snapshot: Uint8Array.from({ length: 300_001 }, (_, i) => i),
};

async function openRelay(port = 0): Promise<Relay> {
  const relay = await startRelay({ port, relayToken: AUTH });
  onTestFinished(() => relay.close());
  return relay;
}

function addressOf({ url }: Pick<Relay, 'url'>): LendAddress {
  const token = createToken();
  return { way: 'relay', url, place: 'here', token, auth: AUTH, name: '', device: 'auto' };
}

/** A page that hands over until the test is over. */
function give(address: LendAddress, parcel = PARCEL) {
  const states: MoveState[] = [];
  const abort = new AbortController();
  const onState = (state: MoveState): void => void states.push(state);
  const lost: string[] = [];
  const onLost = (): void => void lost.push('lost');
  const hasMoved = handOver(async () => parcel, address, { signal: abort.signal, onState, onLost });
  onTestFinished(() => abort.abort());
  return { states, abort, hasMoved, lost };
}

/** Somebody between the pages and a relay, who sees what the relay sees. */
async function tap(relay: Relay): Promise<{ url: string; passed: () => string }> {
  const parts: string[] = [];
  const listen = (from: Socket, to: Socket): void => {
    from.on('data', (data) => parts.push(data.toString('latin1')));
    from.on('error', () => to.destroy());
    from.pipe(to);
  };
  const server = createServer((page) => {
    const on = createConnection(Number(new URL(relay.url).port), '127.0.0.1');
    listen(page, on);
    listen(on, page);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `ws://127.0.0.1:${port}/`, passed: () => parts.join('') };
}

describe('a parcel through a relay', () => {
  test('arrives whole, once, and the page that gave it hears so', async () => {
    const address = addressOf(await openRelay());
    const { hasMoved, states } = give(address);
    const { note, snapshot, confirm } = await takeFromRelay(address);
    expect({ note, snapshot }).toEqual(PARCEL);
    await confirm();
    expect(await hasMoved).toMatch(/^relay=/);
    expect(states).toContain('taken');
    await expect(takeFromRelay(address)).rejects.toMatchObject({ name: 'RemoteLostError' });
  });

  test('is taken back by the page that gave it', async () => {
    const address = addressOf(await openRelay());
    const { hasMoved } = give(address);
    const arrival = await takeFromRelay(address);
    await arrival.confirm();
    const fragment = (await hasMoved) ?? '';
    const later: Parcel = { note: 'later', snapshot: Uint8Array.of(1, 2) };
    const abort = new AbortController();
    onTestFinished(() => abort.abort());
    const options = { signal: abort.signal, onLost: () => undefined };
    const isBack = arrival.giveBack(async () => later, options);
    // Who has seen the first address knows nothing of the way back.
    expect(readFragment(fragment)?.url).toBe(address.url);
    expect(fragment).not.toContain(address.token);
    const back = await takeFromRelay(readFragment(fragment) ?? address);
    expect({ note: back.note, snapshot: back.snapshot }).toEqual(later);
    await back.confirm();
    expect(await isBack).not.toBe(fragment);
    expect(readFragment((await isBack) ?? '')?.url).toBe(address.url);
  });

  test('waits for another page when the first one cannot go on', async () => {
    const address = addressOf(await openRelay());
    const { hasMoved, lost } = give(address, { note: 'nothing runs', snapshot: new Uint8Array() });
    const refused = await takeFromRelay(address);
    refused.refuse();
    await expect.poll(() => lost).toEqual(['lost']);
    const taken = await takeFromRelay(address);
    expect(taken.note).toBe('nothing runs');
    expect(taken.snapshot.length).toBe(0);
    await taken.confirm();
    expect(await hasMoved).toMatch(/^relay=/);
  });

  test('is given to nobody with another token, nor by the token of the relay', async () => {
    const address = addressOf(await openRelay());
    const { hasMoved, abort } = give(address);
    for (const token of [createToken(), AUTH, await deriveRelayToken(address.token)]) {
      await expect(takeFromRelay({ ...address, token })).rejects.toMatchObject({
        name: 'AccessError',
      });
    }
    abort.abort();
    expect(await hasMoved).toBeUndefined();
  });

  test('is not readable on its way', async () => {
    const relay = await openRelay();
    const { url, passed } = await tap(relay);
    const address = addressOf({ url });
    const secret = 'a story that nobody else should read';
    const { hasMoved } = give(address, { note: secret, snapshot: Buffer.from(secret) });
    const { note, confirm } = await takeFromRelay(address);
    expect(note).toBe(secret);
    await confirm();
    await hasMoved;
    const all = passed();
    expect(all).toContain('joined');
    for (const hidden of [secret, address.token, AUTH]) expect(all).not.toContain(hidden);
  });

  test('is asked for again until a relay is started, whatever it knows', async () => {
    const first = await openRelay();
    const port = Number(new URL(first.url).port);
    const address = addressOf(first);
    await first.close();
    const { hasMoved, states } = give(address);
    await expect.poll(() => states).toContain('retrying');
    await openRelay(port);
    await expect.poll(() => states).toContain('waiting');
    await (await takeFromRelay(address)).confirm();
    expect(await hasMoved).toMatch(/^relay=/);
    const stranger = give({ ...address, url: (await openRelay()).url, auth: createToken() });
    await expect(stranger.hasMoved).rejects.toMatchObject({ name: 'AccessError' });
  });

  test('comes from a page that offers nothing else', async () => {
    const address = addressOf(await openRelay());
    give(address);
    const { url, place: key, token, auth: relayToken } = address;
    const remote = await connect(url, { key, token, relayToken, encrypt: true });
    onTestFinished(() => remote.close());
    expect(remote.devices).toEqual([]);
    await expect(remote.getFunction('main')).rejects.toThrow(
      'expected one that is offered (move.take, move.arrived)',
    );
    await expect(remote.load(new Uint8Array(8))).rejects.toMatchObject({ name: 'LimitError' });
  });
});
