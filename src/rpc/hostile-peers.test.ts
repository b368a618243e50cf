import { describe, expect, test } from 'vitest';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import { macrotask } from '../core/async/macrotask.ts';
import { seededRandom } from '../core/random.ts';
import { connect } from './connect.ts';
import type { Frame } from './channels/channel.ts';
import { errorToWire, ProtocolError } from './errors.ts';
import { decodeHead, encodeHead } from './values/messages.ts';
import type { RpcFunction } from './values/rpc-value.ts';
import { serve } from './serve.ts';
import { channelPair } from './testing/channel-pair.ts';
import { LOCAL_ADD, openConnection, testProgram, TOKEN } from './testing/open-connection.ts';
import { RemoteTensor } from './values/remote-handles.ts';
import { TestDevice } from '../runtime/testing/test-device.ts';

const ECHO: Record<string, RpcFunction> = { echo: (x) => x ?? null };

async function echoing(...[serving, connecting]: Parameters<typeof openConnection>) {
  const connection = await openConnection({ offer: ECHO, ...serving }, connecting);
  return { ...connection, echo: await connection.remote.getFunction('echo') };
}

async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await macrotask();
}

describe('strangers', () => {
  test.each([
    ['a client', TOKEN, 'another token, as long as it'],
    ['a device', 'another token, as long as it', TOKEN],
  ])('%s that has another token is refused', async (_, serverToken, clientToken) => {
    const [a, b] = channelPair();
    const served = serve(b, { devices: [new TestDevice()], token: serverToken });
    await expect(connect(a, { token: clientToken })).rejects.toMatchObject({ name: 'AccessError' });
    await expect(served.ready).rejects.toMatchObject({ name: 'AccessError' });
    expect(await served.closed).toMatchObject({ name: 'AccessError' });
  });

  test('the token is not sent, and what was sent does not open another connection', async () => {
    const [a, b] = channelPair();
    serve(b, { devices: [new TestDevice()], token: TOKEN });
    await connect(a, { token: TOKEN });
    const texts = a.sent.map(({ head }) => new TextDecoder('latin1').decode(head));
    expect(texts.join('')).not.toContain(TOKEN);
    const [c, d] = channelPair();
    const again = serve(d, { devices: [new TestDevice()], token: TOKEN });
    for (const frame of a.sent) c.inject(frame);
    await expect(again.ready).rejects.toMatchObject({ name: 'AccessError' });
  });

  test('who says nothing is not waited for', async () => {
    const [, b] = channelPair();
    const options = { devices: [new TestDevice()], token: TOKEN, limits: { handshakeMs: 5 } };
    await expect(serve(b, options).ready).rejects.toThrow('got no answer in 5 ms');
  });

  test('a short token is refused before anything is sent', async () => {
    const [a] = channelPair();
    await expect(connect(a, { token: 'secret' })).rejects.toThrow('got 6 characters');
    expect(a.sent).toEqual([]);
  });

  test('tensors and long texts before the connection began are refused', async () => {
    for (const frame of [
      { head: encodeHead(['weft-rpc']), body: new Uint8Array(8) },
      { head: encodeHead(['x'.repeat(5000)]) },
      { head: Uint8Array.of(0xc1, 0xff) },
    ]) {
      const [a, b] = channelPair();
      const served = serve(b, { devices: [new TestDevice()], token: TOKEN });
      a.inject(frame);
      await expect(served.ready).rejects.toMatchObject({ name: 'ProtocolError' });
    }
  });
});

describe('peers of another version are refused, and told why', () => {
  test.each([1, 2, 4, '3'])('a client of version %s', async (version) => {
    const [a, b] = channelPair();
    const served = serve(b, { devices: [new TestDevice()], token: TOKEN });
    a.inject({
      head: encodeHead(['weft-rpc', version, new Uint8Array(32), 'x', new Uint8Array(0)]),
    });
    const message = `got version ${version} of the protocol, expected version 3.`;
    await expect(served.ready).rejects.toMatchObject({ name: 'ProtocolError' });
    await expect(served.ready).rejects.toThrow(message);
    const [name, error] = decodeHead(b.sent[0]?.head ?? new Uint8Array(0));
    expect([name, error]).toMatchObject(['error', { message: expect.stringContaining(message) }]);
    expect(b.sent).toHaveLength(1);
  });

  test('a server of version 2', async () => {
    const [a, b] = channelPair();
    const got =
      'got version 3 of the protocol, expected version 2. Both sides need the same version of Weft.';
    b.listen({
      frame: () => b.send({ head: encodeHead(['error', errorToWire(new ProtocolError(got))]) }),
      closed: () => undefined,
    });
    const connecting = connect(a, { token: TOKEN });
    await expect(connecting).rejects.toMatchObject({ name: 'ProtocolError' });
    await expect(connecting).rejects.toThrow(got);
  });
});

describe('messages', () => {
  test('one that comes again ends the connection', async () => {
    const { echo, clientEnd, served } = await echoing();
    clientEnd.onSend = (frame) => [frame, frame];
    await expect(echo(1)).rejects.toMatchObject({ name: 'RemoteLostError' });
    const reason = await served.closed;
    expect(reason).toMatchObject({ name: 'ProtocolError' });
    expect(reason.message).toContain('a message repeated or out of order');
  });

  test('one that is left out ends the connection', async () => {
    const { echo, clientEnd, served, remote } = await echoing();
    let count = 0;
    clientEnd.onSend = (frame) => (count++ === 0 ? [] : [frame]);
    const [a, b] = [echo(1), echo(2)];
    await expect(a).rejects.toMatchObject({ name: 'RemoteLostError' });
    await expect(b).rejects.toMatchObject({ name: 'RemoteLostError' });
    expect(await served.closed).toMatchObject({ name: 'ProtocolError' });
    expect(remote.counters()).toMatchObject({ callsPending: 0, handlesHeldByPeer: 0 });
  });

  test('that are cut or changed end the connection or fail a call, with a typed error', async () => {
    const random = seededRandom(42);
    const names = new Set<string>();
    for (let round = 0; round < 150; round++) {
      const { echo, clientEnd, served } = await echoing();
      const change = (bytes: Uint8Array): Uint8Array => {
        const copy = bytes.slice();
        if (random() < 0.3) return copy.subarray(0, Math.floor(random() * copy.byteLength));
        for (let i = 0; i < 3; i++) {
          copy[Math.floor(random() * copy.byteLength)] = Math.floor(random() * 256);
        }
        return copy;
      };
      clientEnd.onSend = ({ head, body }): Frame[] => [{ head: change(head), body }];
      const tensor = HostTensor.from('float32', [3], [1, 2, 3]);
      const outcomes = Promise.allSettled([echo([tensor, 'text', 0.5]), echo(tensor)]);
      await settle();
      served.close();
      for (const outcome of await outcomes) {
        if (outcome.status === 'rejected') names.add((outcome.reason as Error).name);
      }
      names.add((await served.closed).name);
    }
    const typed = ['RemoteLostError', 'ProtocolError', 'UsageError', 'LimitError', 'ShapeError'];
    expect([...names].filter((name) => !typed.includes(name))).toEqual([]);
    expect(names).toContain('ProtocolError');
  });

  test('data that is no tree, too large or of wrong parts ends the connection, and nothing runs', async () => {
    let calls = 0;
    const { clientEnd } = await openConnection();
    const base = clientEnd.sent.length - 2;
    clientEnd.close();
    for (const [nodes, blobs] of [
      // A list in two lists, which would double with each of thirty further ones.
      [[[10], [10, 0, 0]], []],
      [[[10], [10, 0], [10, 0]], []],
      // A field that comes later, itself, or is the names of fields.
      [[[10, 1], [10]], []],
      [[[10, 0]], []],
      [
        [
          [11, 'a'],
          [10, 0],
        ],
        [],
      ],
      // Records with other fields than names, of names that are none, or of what is no names.
      [[[11, 'a'], 1, [12, 0]], []],
      [[[11, 1]], []],
      [[[11, '__proto__'], 1, [12, 0, 1]], []],
      [['a', 1, [12, 0, 1]], []],
      // Lists in tuples, which are values.
      [[[10], [5, 0, [0]]], []],
      [[true, [5, 0, [0]]], []],
      // Arrays without bytes, of no type, or with a part of an element.
      [[[9, 0, 0]], []],
      [[[9, 'constructor', 0]], [8]],
      [[[9, 99, 0]], [8]],
      [[[9, 8, 0]], [4]],
      [[[13]], []],
      [[{ a: 1 }], []],
    ] as const) {
      const offer = { echo: () => void calls++ };
      const { clientEnd: end, served } = await openConnection({ offer });
      const roots = [nodes.length - 1];
      const bytes = blobs.reduce((sum, length) => sum + length, 0);
      const body = bytes > 0 ? new Uint8Array(bytes) : undefined;
      end.inject({
        head: encodeHead([base, 1, 7, 'session', false, nodes, roots, blobs, 0]),
        body,
      });
      expect(await served.closed).toMatchObject({ name: 'ProtocolError' });
    }
    expect(calls).toBe(0);
  });

  test('plain data is no value of a function or a module', async () => {
    const { remote, clientEnd, served } = await echoing();
    await remote.getFunction('echo');
    const sequence = clientEnd.sent.length - 2;
    const head = [
      sequence,
      1,
      70,
      1,
      false,
      [[11, 'kind'], 'tensor handle', [12, 0, 1]],
      [2],
      [],
      0,
    ];
    const answered = new Promise<unknown[]>((resolve) => {
      clientEnd.partner?.sent.splice(0);
      const poll = setInterval(() => {
        const frame = clientEnd.partner?.sent[0];
        if (frame === undefined) return;
        clearInterval(poll);
        resolve(decodeHead(frame.head));
      });
    });
    clientEnd.inject({ head: encodeHead(head) });
    expect(await answered).toMatchObject([
      expect.any(Number),
      3,
      70,
      { name: 'ProtocolError', message: expect.stringContaining('data where a value belongs') },
    ]);
    served.close();
  });

  test('a call of what was not given out ends the connection', async () => {
    for (const target of [99, 'constructor']) {
      const { clientEnd, served } = await openConnection();
      const sequence = clientEnd.sent.length - 2;
      clientEnd.inject({ head: encodeHead([sequence, 1, 7, target, false, [], [], [], 0]) });
      expect(await served.closed).toMatchObject({ name: 'ProtocolError' });
    }
  });
});

describe('limits', () => {
  test('a tensor beyond messageBytes is refused where it is sent', async () => {
    const { echo } = await echoing({}, { limits: { messageBytes: 1000 } });
    await expect(echo(HostTensor.zeros('uint8', [1001]))).rejects.toThrow(
      'got tensors of 1001 bytes in one message, expected at most 1000',
    );
    expect(await echo(1)).toBe(1);
  });

  test('and where it arrives', async () => {
    const { echo, served } = await echoing({ limits: { messageBytes: 1000 } });
    const sending = echo(HostTensor.zeros('uint8', [1001]));
    await expect(sending).rejects.toMatchObject({ name: 'RemoteLostError' });
    expect(await served.closed).toMatchObject({ name: 'LimitError' });
  });

  test('a splat does not grow beyond it', async () => {
    const { echo, served } = await echoing({ limits: { messageBytes: 1000 } });
    const sending = echo(HostTensor.splat('float32', [1_000_000_000], 1));
    await expect(sending).rejects.toMatchObject({ name: 'RemoteLostError' });
    expect((await served.closed).message).toContain('more bytes of tensors than the limit');
  });

  test('handles, calls at a time and calls per second are bounded', async () => {
    const waiting: (() => void)[] = [];
    const offer: Record<string, RpcFunction> = {
      make: () => () => 1,
      wait: () => new Promise((resolve) => waiting.push(() => resolve(null))),
    };
    const { remote } = await openConnection({ offer, limits: { handles: 5, pending: 3 } });
    const make = await remote.getFunction('make');
    const wait = await remote.getFunction('wait');
    const made = [await make(), await make(), await make()];
    await expect(make()).rejects.toThrow('more than 5 functions and tensors');
    for (const callee of made) (callee as unknown as { release(): void }).release();
    expect(await make()).toBeTypeOf('function');
    const calls = [wait(), wait(), wait()];
    await expect(make()).rejects.toThrow('more than 3 calls at a time');
    for (const resume of waiting) resume();
    expect(await Promise.all(calls)).toEqual([null, null, null]);
    const { echo } = await echoing({ limits: { callsPerSecond: 1 } });
    const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => echo(1)));
    const refused = outcomes.filter(({ status }) => status === 'rejected');
    expect(refused.length).toBeGreaterThanOrEqual(6);
    expect(refused[0]).toMatchObject({ reason: { name: 'LimitError' } });
  });

  test('a slow reader keeps tensors where they are', async () => {
    const { echo, clientEnd, remote } = await echoing();
    const resume = clientEnd.hold();
    const tensors = Array.from({ length: 20 }, () => HostTensor.zeros('uint8', [5000]));
    const calls = tensors.map((tensor) => echo(tensor));
    await settle();
    expect(remote.counters().bodiesWaiting).toBeGreaterThan(15);
    const heads = 100 * 60;
    expect(clientEnd.bufferedByteLength).toBeLessThan(clientEnd.windowByteLength + heads);
    resume();
    expect(await Promise.all(calls)).toEqual(tensors);
    expect(remote.counters()).toMatchObject({ bodiesWaiting: 0, bodiesArriving: 0 });
  });

  test('who never reads answers is dropped', async () => {
    const { echo, serverEnd, served } = await echoing({ limits: { bufferedBytes: 20_000 } });
    serverEnd.hold();
    const calls = Array.from({ length: 200 }, () => echo('x'.repeat(1000)));
    const outcomes = Promise.allSettled(calls);
    expect(await served.closed).toMatchObject({ name: 'LimitError' });
    for (const outcome of await outcomes) expect(outcome.status).toBe('rejected');
  });
});

describe('a lost peer', () => {
  test('has nothing left on the device', async () => {
    const { remote, clientEnd, served, device } = await openConnection();
    const functions = { 'local.add': LOCAL_ADD };
    const module = await remote.load(testProgram(), { functions });
    const copy = await module.getFunction('copy');
    const kept = await copy.invoke([HostTensor.zeros('float32', [1000])], { keep: 'device' });
    expect(kept).toBeInstanceOf(RemoteTensor);
    expect(device.counters().bytesLive).toBeGreaterThan(0);
    clientEnd.break();
    await served.closed;
    await expect.poll(() => device.counters().bytesLive).toBe(0);
  });

  test('is not waited for when the caller gave up, nor one that never answers', async () => {
    const [a] = channelPair();
    const controller = new AbortController();
    const connecting = connect(a, { token: TOKEN, signal: controller.signal });
    await settle();
    controller.abort();
    await expect(connecting).rejects.toMatchObject({ name: 'AbortError' });
    const [b] = channelPair();
    const slow = connect(b, { token: TOKEN, limits: { handshakeMs: 5 } });
    await expect(slow).rejects.toThrow('got no answer in 5 ms');
    const [c] = channelPair();
    const aborted = connect(c, { token: TOKEN, signal: AbortSignal.abort() });
    await expect(aborted).rejects.toMatchObject({ name: 'AbortError' });
  });

  test('rejects everything that is pending, and nothing is called twice', async () => {
    let calls = 0;
    const offer: Record<string, RpcFunction> = {
      wait: () => {
        calls++;
        return new Promise(() => undefined);
      },
    };
    const { remote, clientEnd, served } = await openConnection({ offer });
    const wait = await remote.getFunction('wait');
    const pending = [wait(), wait(), wait()];
    await settle();
    clientEnd.break();
    for (const call of pending) {
      await expect(call).rejects.toMatchObject({ name: 'RemoteLostError' });
    }
    await expect(wait()).rejects.toMatchObject({ name: 'RemoteLostError' });
    expect(await served.closed).toMatchObject({ name: 'RemoteLostError' });
    expect(calls).toBe(3);
    expect(remote.counters()).toEqual({
      handlesHeldForPeer: 0,
      handlesHeldByPeer: 0,
      callsPending: 0,
      callsActive: 0,
      bodiesWaiting: 0,
      bodiesArriving: 0,
    });
  });
});
