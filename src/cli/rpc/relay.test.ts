import { afterEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import {
  connect,
  createToken,
  deriveRelayToken,
  type Remote,
  serveRelay,
  type RelayedServing,
  webSocketChannel,
} from '../../rpc/index.ts';
import { joinRelay, type RelayRole } from '../../rpc/channels/relay-channel.ts';
import { LOCAL_ADD, testProgram, TOKEN } from '../../rpc/testing/open-connection.ts';
import { TestDevice } from '../../runtime/testing/test-device.ts';
import { type Relay, type RelayOptions, startRelay } from './start-relay.ts';

const opened: (() => void | Promise<void>)[] = [];

afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function relayed(options: Partial<RelayOptions> = {}): Promise<Relay> {
  const relay = await startRelay({
    port: 0,
    relayToken: await deriveRelayToken(TOKEN),
    // Silent sockets stay, however busy the machine is.
    handshakeMs: 600_000,
    ...options,
  });
  opened.push(() => relay.close());
  return relay;
}

function startServing({ url }: Relay, options: object = {}): RelayedServing {
  const serving = serveRelay(url, {
    key: 'desk',
    token: TOKEN,
    devices: [new TestDevice()],
    offer: { echo: (x) => x ?? null, wait: () => new Promise(() => undefined) },
    retryMs: 10,
    ...options,
  });
  serving.ended.catch(() => undefined);
  opened.push(() => serving.stop());
  return serving;
}

async function client({ url }: Relay, options: object = {}): Promise<Remote> {
  const remote = await connect(url, { token: TOKEN, key: 'desk', ...options });
  opened.push(() => remote.close());
  return remote;
}

describe('relay', () => {
  test('pairs clients with a device, which runs what they ship', async () => {
    const relay = await relayed();
    startServing(relay);
    const remotes = [await client(relay), await client(relay)];
    for (const remote of remotes) {
      const functions = { 'local.add': LOCAL_ADD };
      const module = await remote.load(testProgram(), { functions });
      const outer = await module.getFunction('outer');
      const x = HostTensor.from('float32', [2], [1, 2]);
      expect(await outer(x)).toEqual(HostTensor.from('float32', [2], [2, 4]));
    }
    expect(relay.counters().pairs).toBe(2);
  });

  test('passes 10 MB there and back', async () => {
    const relay = await relayed();
    startServing(relay);
    const echo = await (await client(relay)).getFunction('echo');
    const bytes = new Uint8Array(10_000_003).map((_, i) => i * 7);
    const tensor = new HostTensor('uint8', [bytes.length], bytes);
    const answer = await echo(tensor);
    if (!(answer instanceof HostTensor)) throw new Error('internal: no tensor');
    expect(Buffer.compare(answer.bytes, bytes)).toBe(0);
  });

  test('killed in the middle, rejects what is pending and is found again', async () => {
    const relay = await startRelay({ port: 0, relayToken: await deriveRelayToken(TOKEN) });
    const port = Number(new URL(relay.url).port);
    startServing(relay);
    const remote = await client(relay);
    const wait = await remote.getFunction('wait');
    const calls = [wait(), wait(HostTensor.zeros('uint8', [5_000_000]))];
    const outcomes = Promise.allSettled(calls);
    await relay.close();
    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { name: 'RemoteLostError' } });
    }
    const again = await relayed({ port });
    const echo = await (await client(again)).getFunction('echo');
    expect(await echo(1)).toBe(1);
  });

  test('reads no faster than its slowest client', async () => {
    const relay = await relayed();
    let received = 0;
    const join = async (role: RelayRole): Promise<WebSocket> => {
      const socket = new WebSocket(relay.url);
      opened.push(() => socket.terminate());
      const channel = webSocketChannel(socket);
      const relayToken = await deriveRelayToken(TOKEN);
      await joinRelay(channel, { role, key: 'desk', relayToken, timeoutMs: 60_000 });
      channel.listen({ frame: () => received++, closed: () => undefined });
      return socket;
    };
    const [device, reader] = await Promise.all([join('device'), join('client')]);
    reader.pause();
    const message = new Uint8Array(250_000);
    for (let i = 0; i < 400; i++) device.send(message);
    const full = 8 * 2 ** 20;
    await expect.poll(() => relay.counters().bufferedBytes).toBeGreaterThan(full);
    for (let i = 0; i < 20; i++) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(relay.counters().bufferedBytes).toBeLessThan(full + 2 ** 20);
    }
    // Frames that the relay does not take wait at the sender.
    expect(device.bufferedAmount).toBeGreaterThan(50_000_000);
    reader.resume();
    await expect.poll(() => received).toBe(400);
    expect(relay.counters().bufferedBytes).toBe(0);
  });

  test('listens on loopback, and answers nothing but sockets', async () => {
    const relay = await relayed();
    expect(new URL(relay.url).hostname).toBe('127.0.0.1');
    const answer = await fetch(relay.url.replace('ws:', 'http:'));
    expect(answer.status).toBe(426);
  });

  test('refuses strangers, both as clients and as devices', async () => {
    const relay = await relayed();
    const token = 'another token, as long as it';
    await expect(client(relay, { token })).rejects.toMatchObject({ name: 'AccessError' });
    await expect(startServing(relay, { token }).ended).rejects.toMatchObject({
      name: 'AccessError',
    });
    expect(relay.counters()).toMatchObject({ waiting: 0, pairs: 0 });
  });

  test('answers by addresses, and names that it was given', async () => {
    const relay = await relayed({ names: ['desk.local'] });
    const ask = (host: string): Promise<string> =>
      new Promise((resolve) => {
        const socket = new WebSocket(relay.url, { headers: { host } });
        socket.on('open', () => {
          socket.close();
          resolve('open');
        });
        socket.on('error', ({ message }) => resolve(message));
      });
    for (const host of ['127.0.0.1:9190', '[::1]', 'localhost:1', 'Desk.local:9190', '10.0.0.7']) {
      expect(await ask(host)).toBe('open');
    }
    for (const host of ['rebound.example', '127.0.0.1.example:9190', 'desk.local.example']) {
      expect(await ask(host)).toContain('421');
    }
  });

  test('refuses pages of other origins, and messages that are too large', async () => {
    const relay = await relayed();
    const open = (origin: string): Promise<string> =>
      new Promise((resolve) => {
        const socket = new WebSocket(relay.url, { origin });
        socket.on('open', () => {
          socket.close();
          resolve('open');
        });
        socket.on('error', ({ message }) => resolve(message));
      });
    expect(await open('https://evil.example')).toContain('403');
    expect(await open('http://localhost.evil.example')).toContain('403');
    expect(await open('http://localhost:5173')).toBe('open');
    const code = await new Promise((resolve) => {
      const socket = new WebSocket(relay.url);
      socket.on('error', () => undefined);
      socket.on('open', () => socket.send(new Uint8Array(6_000_000)));
      socket.on('close', resolve);
    });
    expect(code).toBe(1009);
  });

  test('knows nothing that opens a connection', async () => {
    const relayToken = createToken();
    const relay = await relayed({ relayToken });
    const token = createToken();
    startServing(relay, { token, relayToken, encrypt: true });
    const own = { relayToken, encrypt: true };
    // Who may talk to the relay, even the relay itself, has no way into a connection.
    const intruding = client(relay, { token: relayToken, ...own });
    await expect(intruding).rejects.toMatchObject({ name: 'AccessError' });
    const echo = await (await client(relay, { token, ...own })).getFunction('echo');
    expect(await echo(1)).toBe(1);
    await expect(client(relay, { token })).rejects.toMatchObject({ name: 'AccessError' });
  });

  test('256 silent sockets keep nobody out', async () => {
    const relay = await relayed({ maxConnections: 4 });
    const codes: number[] = [];
    for (let i = 0; i < 256; i++) {
      const socket = new WebSocket(relay.url);
      opened.push(() => socket.terminate());
      socket.on('close', (code) => codes.push(code));
      await new Promise((resolve) => socket.once('open', resolve));
    }
    expect(relay.counters().unproved).toBeLessThanOrEqual(16);
    startServing(relay);
    const echo = await (await client(relay)).getFunction('echo');
    expect(await echo(1)).toBe(1);
    expect(codes.length).toBeGreaterThanOrEqual(240);
    expect(new Set(codes)).toEqual(new Set([4429]));
  });

  test('who is refused is told why', async () => {
    const relay = await relayed({ maxConnections: 1, maxUnprovedPerAddress: 1 });
    startServing(relay);
    await expect.poll(() => relay.counters().waiting).toBe(1);
    await expect(client(relay)).rejects.toMatchObject({
      name: 'LimitError',
      message: expect.stringContaining(
        'relay: got as many connections as it accepts (1), expected fewer connections.',
      ) as unknown,
    });
    const other = await relayed({ maxUnprovedPerAddress: 1 });
    const socket = new WebSocket(other.url);
    const reason = new Promise((resolve) => {
      socket.on('close', (_, why) => resolve(why.toString()));
    });
    await new Promise((resolve) => socket.once('open', resolve));
    void client(other).catch(() => undefined);
    expect(await reason).toContain('relay: got more than 1 connections without a proof');
  });

  test('takes few bytes before the proof', async () => {
    const relay = await relayed();
    const socket = new WebSocket(relay.url);
    const code = new Promise((resolve) => {
      socket.on('close', resolve);
      socket.on('error', () => undefined);
    });
    socket.on('open', () => socket.send(new Uint8Array(1_000_000)));
    expect([1006, 1009]).toContain(await code);
    expect(relay.counters()).toMatchObject({ unproved: 0, waiting: 0 });
  });

  test('takes no token in an address', async () => {
    await expect(connect('ws://127.0.0.1:1/?token=x', { token: TOKEN })).rejects.toThrow(
      'they are never part of an address',
    );
    await expect(connect('ws://127.0.0.1:1/', { token: TOKEN })).rejects.toMatchObject({
      name: 'RemoteLostError',
    });
  });
});
