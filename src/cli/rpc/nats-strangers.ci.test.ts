import type { Msg, NatsConnection } from '@nats-io/nats-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Frame } from '../../rpc/channels/channel.ts';
import { MAX_FRAME_BYTE_LENGTH } from '../../rpc/channels/frame-bytes.ts';
import { Fleet, type FleetServing, serveNats } from '../../rpc/nats/index.ts';
import { NatsChannel, type NatsChannelOptions } from '../../rpc/nats/nats-channel.ts';
import type { RpcFunction } from '../../rpc/values/rpc-value.ts';
import { TOKEN } from '../../rpc/testing/open-connection.ts';
import { TestDevice } from '../../runtime/testing/test-device.ts';
import { openBroker } from './nats-commands.ts';
import { type NatsServer, startNatsServer } from './testing/nats-server.ts';

const AUTH = 'what the broker asks for';
let server: NatsServer;
let nats: NatsConnection;
/** Somebody else whom the broker knows. */
let other: NatsConnection;
const opened: (() => unknown)[] = [];

beforeAll(async () => {
  server = await startNatsServer({ auth: AUTH, jetStream: false });
  nats = await openBroker(server.url, { auth: AUTH });
  other = await openBroker(server.url, { auth: AUTH });
});

afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

afterAll(async () => {
  await nats.close();
  await other.close();
  await server.close();
});

interface End {
  readonly channel: NatsChannel;
  readonly frames: Frame[];
  readonly reason: Promise<string>;
}

function end(connection: NatsConnection, options: NatsChannelOptions = {}): End {
  const channel = new NatsChannel(connection, options);
  opened.push(() => channel.close());
  const frames: Frame[] = [];
  const reason = new Promise<string>((resolve) => {
    channel.listen({ frame: (frame) => frames.push(frame), closed: resolve });
  });
  return { channel, frames, reason };
}

async function pair(): Promise<[End, End]> {
  const ends: [End, End] = [end(nats), end(other)];
  ends[0].channel.join(ends[1].channel.inbox);
  ends[1].channel.join(ends[0].channel.inbox);
  await Promise.all([nats.flush(), other.flush()]);
  return ends;
}

const frame = (byteLength: number): Frame => ({
  head: Uint8Array.of(1, 2, 3),
  body: new Uint8Array(byteLength).fill(7),
});

/** A part of a connection's messages: kind and number. */
function part(kind: number, count: number, payload = new Uint8Array(0)): Uint8Array {
  const message = new Uint8Array(8 + payload.byteLength);
  message[0] = kind;
  new DataView(message.buffer).setUint32(4, count, true);
  message.set(payload, 8);
  return message;
}

describe('a channel over NATS', () => {
  test('a slow reader holds what is sent beyond the window', async () => {
    const [a, b] = await pair();
    const silent = other.subscribe('weft.test.silent', { callback: () => undefined });
    await other.flush();
    a.channel.join('weft.test.silent');
    for (let i = 0; i < 40; i++) a.channel.send(frame(250_000));
    await nats.flush();
    expect(a.channel.bufferedByteLength).toBeGreaterThan(5_500_000);
    expect(a.channel.bufferedByteLength).toBeLessThan(6_500_000);
    expect(b.frames).toEqual([]);
    silent.unsubscribe();
    // From here nobody listens there.
    await other.flush();
    a.channel.join('weft.test.silent');
    a.channel.close();
  });

  test('one that reads gets all of it, in order', async () => {
    const [a, b] = await pair();
    for (let i = 0; i < 40; i++) a.channel.send(frame(250_000 + i));
    await expect.poll(() => b.frames.length).toBe(40);
    expect(b.frames.map(({ body }) => body?.byteLength)).toEqual(
      Array.from({ length: 40 }, (_, i) => 250_000 + i),
    );
    expect(a.channel.bufferedByteLength).toBe(0);
  });

  test('learns from the broker that the other side is gone', async () => {
    const gone = await openBroker(server.url, { auth: AUTH });
    const [a, b] = [end(nats, { pingMs: 20 }), end(gone)];
    a.channel.join(b.channel.inbox);
    b.channel.join(a.channel.inbox);
    await gone.flush();
    await gone.close();
    expect(await a.reason).toBe('the other side is gone');
    expect(await b.reason).toMatch(/^the connection to NATS/);
  });

  test('gives up who listens and never answers', async () => {
    const silent = other.subscribe('weft.test.mute', { callback: () => undefined });
    opened.push(() => silent.unsubscribe());
    await other.flush();
    const a = end(nats, { pingMs: 20, silenceMs: 150 });
    a.channel.join('weft.test.mute');
    expect(await a.reason).toBe('no sign of life in 150 ms');
  });

  test.each<[string, (inbox: string) => void, string]>([
    ['again', (inbox) => other.publish(inbox, part(1, 0)), 'a message was lost or arrived twice'],
    [
      'left out',
      (inbox) => other.publish(inbox, part(1, 9)),
      'a message was lost or arrived twice',
    ],
    ['short', (inbox) => other.publish(inbox, 'hi'), 'no message of a connection'],
    ['unknown', (inbox) => other.publish(inbox, part(99, 0)), 'an unknown message'],
    ['credit for nothing', (inbox) => other.publish(inbox, part(2, 1000)), 'more than was sent'],
    [
      'cut',
      (inbox) => other.publish(inbox, part(1, 1, Uint8Array.of(9, 0, 0))),
      'an incomplete frame',
    ],
  ])('ends at a message that is %s, and says so', async (_, inject, reason) => {
    const [a, b] = await pair();
    b.channel.send(frame(10));
    await expect.poll(() => a.frames.length).toBe(1);
    inject(a.channel.inbox);
    expect(await a.reason).toContain(reason);
    expect(await b.reason).toContain(reason);
    expect(a.frames).toHaveLength(1);
  });
});

test('a frame without end is not kept', async () => {
  const silent = other.subscribe('weft.test.endless', { callback: () => undefined });
  opened.push(() => silent.unsubscribe());
  await other.flush();
  const a = end(nats);
  a.channel.join('weft.test.endless');
  await nats.flush();
  const payload = new Uint8Array(1_000_000);
  const count = Math.ceil(MAX_FRAME_BYTE_LENGTH / payload.byteLength) + 1;
  for (let i = 0; i < count; i++) other.publish(a.channel.inbox, part(0, i, payload));
  expect(await a.reason).toBe('the other side sent a frame that is too large');
  expect(a.frames).toEqual([]);
});

describe('strangers whom the broker lets in', () => {
  async function startServing(limits = {}): Promise<FleetServing> {
    const serving = await serveNats(nats, {
      devices: [new TestDevice()],
      token: TOKEN,
      limits,
      offer: { echo: (x) => x ?? null },
    });
    opened.push(() => serving.stop());
    return serving;
  }

  test('open no connection without the token, and take no place for long', async () => {
    await startServing({ handshakeMs: 200 });
    const stranger = new Fleet(other, { token: 'another token, as long as it' });
    await expect(stranger.connectGroup()).rejects.toMatchObject({ name: 'AccessError' });
    const silent = end(other);
    const request = JSON.stringify({ inbox: silent.channel.inbox });
    const answer = await other.request('weft.rpc.group.any', request, { timeout: 20_000 });
    silent.channel.join(answer.json<{ inbox: string }>().inbox);
    expect(await silent.reason).toBe('the other side closed the connection');
    const friend = new Fleet(other, { token: TOKEN });
    expect((await friend.devices())[0]?.connections).toBe(0);
  });

  test('read nothing of a connection, and call nothing in it', async () => {
    let calls = 0;
    const echo: RpcFunction = (x) => {
      calls++;
      return x ?? null;
    };
    const serving = await serveNats(nats, {
      devices: [new TestDevice()],
      token: TOKEN,
      offer: { echo },
    });
    opened.push(() => serving.stop());
    const seen: Msg[] = [];
    const spy = other.subscribe('_INBOX.>', {
      callback: (_, message) => void seen.push(message),
    });
    opened.push(() => spy.unsubscribe());
    await other.flush();
    const { remote } = await new Fleet(nats, { token: TOKEN }).connectGroup();
    const called = await remote.getFunction('echo');
    expect(await called('nobody else may read this')).toBe('nobody else may read this');
    const text = seen.map(({ data }) => new TextDecoder('latin1').decode(data)).join('');
    expect(text.length).toBeGreaterThan(500);
    expect(text).not.toContain('nobody else');
    // The last part to the device again, under the number that it expects next.
    const parts = seen.filter(({ data }) => data[0] === 1);
    const toDevice = parts.findLast(({ subject }) => subject === parts[0]?.subject);
    if (toDevice === undefined) throw new Error('internal: no part seen');
    const forged = new Uint8Array(toDevice.data);
    const view = new DataView(forged.buffer);
    view.setUint32(4, view.getUint32(4, true) + 1, true);
    other.publish(toDevice.subject, forged);
    expect((await remote.closed).message).toContain('the other side closed the connection');
    expect(calls).toBe(1);
  });

  test.each([
    '',
    'not JSON',
    'null',
    '{"inbox":7}',
    '{"inbox":"weft.rpc.group.any"}',
    '{"inbox":"_INBOX.>"}',
    '{"inbox":"_INBOX.a b"}',
    `{"inbox":"_INBOX.${'x'.repeat(500)}"}`,
  ])('get an error for the request %j', async (request) => {
    await startServing();
    const answer = await other.request('weft.rpc.group.any', request, { timeout: 20_000 });
    expect(answer.headers?.get('Nats-Service-Error-Code')).toBe('400');
  });

  test('announce what is no device in vain, and no text moves the cursor', async () => {
    await startServing();
    const answers = [
      'not JSON',
      'null',
      '{"id":"x y"}',
      JSON.stringify({ id: 'A1', metadata: { name: 'x', group: 'any', devices: '{}' } }),
      JSON.stringify({
        id: 'A2',
        metadata: { name: 'e\u001b[2Jvil', group: 'any', devices: '[null]', limits: '7' },
        endpoints: [{ data: { sessions: 'many', calls: -1 } }],
      }),
    ];
    const false_ = other.subscribe('$SRV.STATS.weft-device', {
      callback: (_, message) => {
        for (const answer of answers) message.respond(answer);
      },
    });
    opened.push(() => false_.unsubscribe());
    await other.flush();
    const found = await new Fleet(nats, { token: TOKEN }).devices();
    const seen = found.map(({ name, connections, calls }) => `${name} ${connections} ${calls}`);
    expect(new Set(seen)).toEqual(new Set(['e[2Jvil 0 0', 'test device 0 0']));
  });

  test('are refused by a broker that does not know them', async () => {
    const open = openBroker(server.url, { auth: 'somebody else' });
    await expect(open).rejects.toMatchObject({ name: 'AccessError' });
    await expect(openBroker('nats://127.0.0.1:1')).rejects.toMatchObject({
      name: 'RemoteLostError',
    });
    for (const url of ['nats://me:secret@127.0.0.1', 'ws://127.0.0.1/?token=x', 'http://a', 'x']) {
      await expect(openBroker(url)).rejects.toMatchObject({ name: 'UsageError' });
    }
  });
});
