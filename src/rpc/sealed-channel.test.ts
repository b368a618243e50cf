import { describe, expect, test } from 'vitest';
import { HostTensor } from '../core/host-tensor.ts';
import { TestDevice } from '../runtime/testing/test-device.ts';
import type { Frame } from './channel.ts';
import { connect } from './connect.ts';
import type { RpcFunction } from './rpc-value.ts';
import { serve } from './serve.ts';
import { channelPair } from './testing/channel-pair.ts';
import { LOCAL_ADD, openSession, testProgram, TOKEN } from './testing/open-session.ts';

const SECRET = 'nobody else may read this';

async function sealedSession() {
  let calls = 0;
  const offer: Record<string, RpcFunction> = {
    echo: (x) => {
      calls++;
      return x ?? null;
    },
  };
  const session = await openSession({ offer, encrypt: true }, { encrypt: true });
  const echo = await session.remote.getFunction('echo');
  return { ...session, echo, calls: () => calls };
}

function textOf(frames: readonly Frame[]): string {
  const decoder = new TextDecoder('latin1');
  return frames.map(({ head, body }) => decoder.decode(head) + decoder.decode(body)).join('');
}

describe('an encrypted session', () => {
  test('passes programs, calls back, and large tensors in pieces', async () => {
    const { remote, echo, served } = await sealedSession();
    const module = await remote.load(testProgram(), { functions: { 'local.add': LOCAL_ADD } });
    const outer = await module.getFunction('outer');
    const x = HostTensor.from('float32', [2], [1, 2]);
    expect(await outer(x)).toEqual(HostTensor.from('float32', [2], [2, 4]));
    const large = new HostTensor(
      'uint8',
      [300_000],
      new Uint8Array(300_000).map((_, i) => i),
    );
    expect(await Promise.all([echo(large), echo(1), echo(large)])).toEqual([large, 1, large]);
    remote.close();
    expect((await served.closed).message).toContain('it closed the session');
  });

  test('shows nothing of what it says, neither way', async () => {
    const { echo, clientEnd, serverEnd } = await sealedSession();
    const tensor = HostTensor.from('uint8', [SECRET.length], [...new TextEncoder().encode(SECRET)]);
    expect(await echo([SECRET, tensor])).toBeDefined();
    expect(textOf(clientEnd.sent)).not.toContain(SECRET);
    expect(textOf(serverEnd.sent)).not.toContain(SECRET);
    const plain = await openSession({ offer: { echo: (x) => x ?? null } });
    await (await plain.remote.getFunction('echo'))([SECRET, tensor]);
    expect(textOf(plain.clientEnd.sent)).toContain(SECRET);
  });

  test.each<[string, (frame: Frame) => Frame[]]>([
    ['comes twice', (frame) => [frame, frame]],
    [
      'is changed',
      ({ head, body }) => [{ head, body: body?.map((x, i) => (i === 9 ? x ^ 1 : x)) }],
    ],
    ['is cut', ({ head, body }) => [{ head, body: body?.subarray(1) }]],
    ['is not sealed', () => [{ head: Uint8Array.of(0x90) }]],
    [
      'has no place',
      ({ head, body }) => [
        { head, body },
        { head, body: new Uint8Array(40) },
      ],
    ],
  ])('ends when a message %s, and runs nothing of it', async (_, change) => {
    const { echo, clientEnd, served, calls } = await sealedSession();
    let sent = 0;
    clientEnd.onSend = (frame) => (sent++ === 0 ? change(frame) : [frame]);
    const [first, second] = [echo(1), echo(2)];
    await expect(second).rejects.toMatchObject({ name: 'RemoteLostError' });
    await first.catch(() => undefined);
    expect(await served.closed).toMatchObject({ name: 'RemoteLostError' });
    expect(calls()).toBeLessThanOrEqual(1);
  });

  test('ends when a message is left out', async () => {
    const { echo, clientEnd, served, calls } = await sealedSession();
    let sent = 0;
    clientEnd.onSend = (frame) => (sent++ === 0 ? [] : [frame]);
    const outcomes = await Promise.allSettled([echo(1), echo(2)]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect((await served.closed).message).toContain('not in order');
    expect(calls()).toBe(0);
  });

  test('is insisted on by who lends', async () => {
    const [a, b] = channelPair();
    const served = serve(b, { devices: [new TestDevice()], token: TOKEN, encrypt: true });
    await expect(connect(a, { token: TOKEN })).rejects.toMatchObject({
      name: 'AccessError',
      message: expect.stringContaining('a client that does not encrypt'),
    });
    await expect(served.ready).rejects.toMatchObject({ name: 'AccessError' });
    // And given to who asks for it.
    const { remote } = await openSession({}, { encrypt: true });
    expect(remote.devices).toHaveLength(1);
  });
});
