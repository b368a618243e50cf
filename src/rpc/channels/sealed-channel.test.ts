import { describe, expect, test, vi } from 'vitest';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { TestDevice } from '../../runtime/testing/test-device.ts';
import type { Frame } from './channel.ts';
import { connect } from '../connect.ts';
import { importToken } from '../handshake/credentials.ts';
import { sign } from '../handshake/handshake.ts';
import { decodeHead, encodeHead } from '../values/messages.ts';
import type { RpcFunction } from '../values/rpc-value.ts';
import { serve } from '../serve.ts';
import { channelPair } from '../testing/channel-pair.ts';
import { LOCAL_ADD, openConnection, testProgram, TOKEN } from '../testing/open-connection.ts';

const SECRET = 'nobody else may read this';

async function sealedSession() {
  let calls = 0;
  const offer: Record<string, RpcFunction> = {
    echo: (x) => {
      calls++;
      return x ?? null;
    },
  };
  const connection = await openConnection({ offer, encrypt: true }, { encrypt: true });
  const echo = await connection.remote.getFunction('echo');
  return { ...connection, echo, calls: () => calls };
}

function textOf(frames: readonly Frame[]): string {
  const decoder = new TextDecoder('latin1');
  return frames.map(({ head, body }) => decoder.decode(head) + decoder.decode(body)).join('');
}

describe('an encrypted connection', () => {
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
    expect((await served.closed).message).toContain('it closed the connection');
  });

  test('shows nothing of what it says, neither way', async () => {
    const { echo, clientEnd, serverEnd } = await sealedSession();
    const tensor = HostTensor.from('uint8', [SECRET.length], [...new TextEncoder().encode(SECRET)]);
    expect(await echo([SECRET, tensor])).toBeDefined();
    expect(textOf(clientEnd.sent)).not.toContain(SECRET);
    expect(textOf(serverEnd.sent)).not.toContain(SECRET);
    const plain = await openConnection({ offer: { echo: (x) => x ?? null } });
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

  test('is insisted on by who serves', async () => {
    const [a, b] = channelPair();
    const served = serve(b, { devices: [new TestDevice()], token: TOKEN, encrypt: true });
    await expect(connect(a, { token: TOKEN })).rejects.toMatchObject({
      name: 'AccessError',
      message: expect.stringContaining('a client that does not encrypt'),
    });
    await expect(served.ready).rejects.toMatchObject({ name: 'AccessError' });
    // And given to who asks for it.
    const { remote } = await openConnection({}, { encrypt: true });
    expect(remote.devices).toHaveLength(1);
  });

  test.each<[string, (fields: unknown[]) => unknown[]]>([
    ["puts its own key in the client's place", (f) => f.with(4, new Uint8Array(32).fill(9))],
    ['takes the key away', (f) => f.with(4, new Uint8Array(0))],
    ['changes the name', (f) => f.with(3, 'somebody else')],
  ])('is refused when who passes the messages on %s', async (_, change) => {
    const [a, b] = channelPair();
    a.onSend = ({ head }) => {
      const fields = decodeHead(head);
      return [{ head: encodeHead(fields[0] === 'weft-rpc' ? change(fields) : fields) }];
    };
    const served = serve(b, { devices: [new TestDevice()], token: TOKEN });
    await expect(connect(a, { token: TOKEN, encrypt: true })).rejects.toMatchObject({
      name: expect.stringMatching(/AccessError|ProtocolError/) as unknown,
    });
    await expect(served.ready).rejects.toBeInstanceOf(Error);
  });

  test("is refused when the server's key is another one on its way", async () => {
    const [a, b] = channelPair();
    b.onSend = ({ head }) => {
      const fields = decodeHead(head);
      const changed =
        fields[0] === 'challenge' ? fields.with(2, new Uint8Array(32).fill(9)) : fields;
      return [{ head: encodeHead(changed) }];
    };
    const served = serve(b, { devices: [new TestDevice()], token: TOKEN });
    const connecting = connect(a, { token: TOKEN, encrypt: true });
    await expect(connecting).rejects.toMatchObject({ name: 'AccessError' });
    await expect(served.ready).rejects.toMatchObject({ name: 'AccessError' });
  });

  test('does not open for who knows the token and all that was sent', async () => {
    const { clientEnd, serverEnd, echo } = await sealedSession();
    await echo(SECRET);
    const [hello, challenge] = [clientEnd.sent[0], serverEnd.sent[0]].map((frame) =>
      decodeHead(frame?.head ?? new Uint8Array()),
    );
    const [nonces, keys] = [
      [hello?.[2], challenge?.[1]] as Uint8Array[],
      [hello?.[4], challenge?.[2]] as Uint8Array[],
    ];
    const token = await importToken(TOKEN, 'session');
    const said = [...nonces, new TextEncoder().encode('client'), ...keys];
    const salt = await sign(token, 'session keys', said);
    const frames = [...clientEnd.sent.slice(2), ...serverEnd.sent.slice(2)];
    expect(frames.length).toBeGreaterThan(2);
    // Every secret that can be made of what was seen, in the place of the one of the key agreement.
    const shared = [...keys, ...nonces, salt, new Uint8Array(32), await sign(token, 'x', said)];
    for (const secret of shared) {
      const base = await crypto.subtle.importKey('raw', new Uint8Array(secret), 'HKDF', false, [
        'deriveKey',
      ]);
      for (const sender of ['client', 'server']) {
        const info = new TextEncoder().encode(`weft-rpc sealed by the ${sender}`);
        const algorithm = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(salt), info };
        const gcm = { name: 'AES-GCM', length: 256 };
        const key = await crypto.subtle.deriveKey(algorithm, base, gcm, false, ['decrypt']);
        for (const [index, { body }] of frames.entries()) {
          const iv = new Uint8Array(12);
          new DataView(iv.buffer).setBigUint64(4, BigInt(index), true);
          const opening = crypto.subtle.decrypt(
            { name: 'AES-GCM', iv },
            key,
            new Uint8Array(body ?? []),
          );
          await expect(opening).rejects.toMatchObject({ name: 'OperationError' });
        }
      }
    }
  });

  test('has keys of its own each time', async () => {
    const first = await sealedSession();
    const second = await sealedSession();
    const keys = [first, second].flatMap(({ clientEnd, serverEnd }) => [
      decodeHead(clientEnd.sent[0]?.head ?? new Uint8Array())[4],
      decodeHead(serverEnd.sent[0]?.head ?? new Uint8Array())[2],
    ]);
    expect(new Set(keys.map((key) => String(key))).size).toBe(4);
  });

  test.each([
    [
      'no WebCrypto',
      undefined,
      'got a page without WebCrypto, which can neither prove a token nor',
    ],
    [
      'no X25519',
      { ...cryptoLike(), generateKey: () => Promise.reject(new Error('Unrecognized name')) },
      'got an engine whose WebCrypto lacks X25519 for encryption',
    ],
  ])('is refused where there is %s, and nothing is sent', async (_, subtle, message) => {
    const real = crypto;
    vi.stubGlobal('crypto', { subtle, getRandomValues: real.getRandomValues.bind(real) });
    try {
      const [a] = channelPair();
      await expect(connect(a, { token: TOKEN, encrypt: true })).rejects.toMatchObject({
        name: 'UnsupportedError',
        message: expect.stringContaining(message) as unknown,
      });
      expect(a.sent).toEqual([]);
    } finally {
      vi.unstubAllGlobals();
    }
  });
});

/** WebCrypto whose methods can be replaced. */
function cryptoLike(): Partial<SubtleCrypto> {
  const { subtle } = crypto;
  return {
    importKey: subtle.importKey.bind(subtle),
    deriveKey: subtle.deriveKey.bind(subtle),
    deriveBits: subtle.deriveBits.bind(subtle),
  };
}
