import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type NatsConnection, nkeys } from '@nats-io/nats-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { findNatsServer } from './testing/find-nats-server.mjs';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { Session, Tensor } from '../../client/index.ts';
import type { RpcFunction } from '../../rpc/values/rpc-value.ts';
import { LOCAL_ADD, testProgram, TOKEN } from '../../rpc/testing/open-connection.ts';
import {
  Fleet,
  type FleetOptions,
  type FleetServing,
  openNats,
  serveNats,
  type ServeNatsOptions,
} from '../../rpc/nats/index.ts';
import { TestDevice } from '../../runtime/testing/test-device.ts';
import { sumAndProduct } from '../../worker/testing/test-programs.ts';
import type { Terminal } from '../terminal.ts';
import { devicesCommand, serveNatsCommand, openBroker } from './nats-commands.ts';
import { type NatsServer, startNatsServer } from './testing/nats-server.ts';

const AUTH = 'what the broker asks for';
const functions = { 'local.add': LOCAL_ADD };
let server: NatsServer;
const opened: (() => unknown)[] = [];

beforeAll(async () => {
  server = await startNatsServer({ auth: AUTH });
});

afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

afterAll(() => server.close());

async function broker({ url }: { readonly url: string } = server): Promise<NatsConnection> {
  const nats = await openBroker(url, { auth: AUTH });
  opened.push(() => nats.close());
  return nats;
}

interface Serving {
  readonly serving: FleetServing;
  readonly nats: NatsConnection;
  readonly device: TestDevice;
}

async function startServing(
  options: Partial<ServeNatsOptions> = {},
  at = server,
): Promise<Serving> {
  const nats = await broker(at);
  const device = new TestDevice({ name: options.name ?? 'test' });
  const serving = await serveNats(nats, {
    devices: [device],
    token: TOKEN,
    pingMs: 50,
    offer: { echo: (x) => x ?? null, wait: () => new Promise(() => undefined), ...options.offer },
    ...options,
  });
  opened.push(() => (nats.isClosed() ? undefined : serving.stop()));
  return { serving, nats, device };
}

async function fleet(options: Partial<FleetOptions> = {}, at = server): Promise<Fleet> {
  return new Fleet(await broker(at), { token: TOKEN, pingMs: 50, ...options });
}

const vector = (...elements: number[]): HostTensor =>
  HostTensor.from('float32', [elements.length], elements);

describe('connections over NATS', () => {
  test.each(['tcp', 'websocket'] as const)('run programs, %s on the client', async (way) => {
    const { device } = await startServing({ name: `desk-${way}` });
    const nats =
      way === 'tcp' ? await broker() : await openNats(server.webSocketUrl, { auth: AUTH });
    opened.push(() => nats.close());
    const { remote } = await new Fleet(nats, { token: TOKEN }).connect(`name=desk-${way}`);
    const module = await remote.load(testProgram(), { functions });
    const outer = await module.getFunction('outer');
    expect(await outer(vector(1, 2))).toEqual(vector(2, 4));
    const fail = await module.getFunction('fail');
    await expect(fail()).rejects.toMatchObject({
      name: 'RuntimeError',
      message: expect.stringContaining(`on desk-${way}`),
    });
    remote.close();
    await expect.poll(() => device.counters().bytesLive).toBe(0);
  });

  test('pass tensors of many pieces, and values beyond the largest message of the broker', async () => {
    await startServing();
    const { remote } = await (await fleet()).connect();
    const echo = await remote.getFunction('echo');
    const bytes = new Uint8Array(10_000_003).map((_, i) => i * 7);
    const tensor = new HostTensor('uint8', [bytes.length], bytes);
    const long = 'x'.repeat(3_000_000);
    const [first, second, text] = await Promise.all([echo(tensor), echo(tensor), echo(long)]);
    for (const answer of [first, second]) {
      if (!(answer instanceof HostTensor)) throw new Error('internal: no tensor');
      expect(Buffer.compare(answer.bytes, bytes)).toBe(0);
    }
    expect(text).toBe(long);
    remote.close();
  });

  test('abort reaches the device', async () => {
    await startServing();
    const { remote } = await (await fleet()).connect();
    const wait = await remote.getFunction('wait');
    const controller = new AbortController();
    const call = wait.invoke([], { signal: controller.signal });
    controller.abort();
    await expect(call).rejects.toMatchObject({ name: 'AbortError' });
    remote.close();
  });
});

describe('a fleet', () => {
  test('is found by query, the least busy first', async () => {
    await startServing({ name: 'a', group: 'lab' });
    await startServing({ name: 'b' });
    const clients = await fleet();
    const { remote, device } = await clients.connect('name=a kind=host memory>1MiB');
    expect([remote.name, device.name]).toEqual(['a', 'a']);
    expect((await clients.devices()).map(({ name }) => name)).toEqual(['b', 'a']);
    const [described] = await clients.devices('name=a');
    expect(described).toMatchObject({ group: 'lab', connections: 1, calls: 0 });
    expect(described?.limits.connections).toBe(8);
    await expect(clients.connect('class=discrete')).rejects.toMatchObject({
      name: 'RemoteLostError',
      message: expect.stringContaining('no device with class=discrete'),
    });
    await expect(clients.connect('class')).rejects.toMatchObject({ name: 'ParseError' });
    remote.close();
  });

  test('shares work by its queue group', async () => {
    await startServing({ name: 'a', group: 'pool', maxConnections: 30 });
    await startServing({ name: 'b', group: 'pool', maxConnections: 30 });
    const clients = await fleet();
    const names: string[] = [];
    for (let i = 0; i < 24; i++) {
      const { remote } = await clients.connectGroup('pool');
      names.push(remote.name);
      remote.close();
    }
    expect(new Set(names)).toEqual(new Set(['a', 'b']));
    await expect(clients.connectGroup('nobody')).rejects.toMatchObject({ name: 'RemoteLostError' });
    await expect(clients.connectGroup('no.group')).rejects.toMatchObject({ name: 'UsageError' });
  });

  test('gets an executable from the broker, where it was sent once', async () => {
    await startServing({ name: 'a' });
    await startServing({ name: 'b' });
    const clients = await fleet();
    const hash = await clients.publish(testProgram());
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    const { remote } = await clients.connect('name=a');
    const progress: number[] = [];
    const bytes = testProgram().toBytes();
    await remote.load(bytes, { functions, onProgress: ({ loaded }) => progress.push(loaded) });
    // One report: it was there.
    expect(progress).toEqual([bytes.byteLength]);
    remote.close();
    const module = await clients.load(bytes, { functions });
    expect(module.members.map(({ name }) => name).sort()).toEqual(['a', 'b']);
    const same = await module.getFunction('same');
    expect(await Promise.all([1, 2, 3].map((x) => same(x)))).toEqual([1, 2, 3]);
    module.close();
  });

  test('takes no other bytes from the broker, and needs no JetStream', async () => {
    const plain = await startNatsServer({ auth: AUTH, jetStream: false });
    opened.push(() => plain.close());
    await startServing({}, plain);
    const without = await (await fleet({}, plain)).load(testProgram(), { functions });
    expect(await (await without.getFunction('same'))(5)).toBe(5);
    without.close();

    await startServing();
    const { ExecutableObjects } = await import('../../rpc/nats/executable-objects.ts');
    const { sha256 } = await import('../../rpc/executable-store.ts');
    const program = testProgram().toBytes();
    const hash = await sha256(program);
    const objects = new ExecutableObjects(await broker());
    await objects.delete(hash);
    expect(
      await objects.put(
        hash,
        program.map((byte) => byte ^ 1),
      ),
    ).toBe(true);
    const module = await (await fleet()).load(program, { functions });
    expect(await (await module.getFunction('same'))(6)).toBe(6);
    module.close();
    await objects.delete(hash);
  });

  test('refuses connections beyond its limit, and takes more afterwards', async () => {
    await startServing({ name: 'small', maxConnections: 1 });
    const clients = await fleet();
    const { remote } = await clients.connect('name=small');
    await expect(clients.connect('name=small')).rejects.toMatchObject({ name: 'LimitError' });
    remote.close();
    await expect.poll(async () => (await clients.devices('name=small'))[0]?.connections).toBe(0);
    (await clients.connect('name=small')).remote.close();
  });
});

describe('what is lost', () => {
  test('one of two devices: each call has one result or one error, and ran at most once', async () => {
    const runs = new Map<number, number>();
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const once: RpcFunction = async (x) => {
      if (!(x instanceof HostTensor)) throw new Error('internal: no tensor');
      const i = Number(x.data[0]);
      runs.set(i, (runs.get(i) ?? 0) + 1);
      if (i >= 100) await gate;
      return x;
    };
    await startServing({ name: 'a' });
    const { nats } = await startServing({ name: 'b' });
    const module = await (await fleet()).load(testProgram(), { functions: { 'local.add': once } });
    const outer = await module.getFunction('outer');
    const calls = Array.from({ length: 200 }, (_, i) => outer(vector(i)));
    const outcomes = Promise.allSettled(calls);
    await Promise.all(calls.slice(0, 100));
    await expect.poll(() => runs.size).toBe(200);
    await nats.close();
    await expect.poll(() => module.members.length).toBe(1);
    open();
    const settled = await outcomes;
    expect(settled.filter(({ status }) => status === 'rejected')).toHaveLength(50);
    for (const [i, outcome] of settled.entries()) {
      if (outcome.status === 'fulfilled') expect(outcome.value).toEqual(vector(i));
      else expect(outcome.reason).toMatchObject({ name: 'RemoteLostError' });
    }
    expect([...runs.values()].every((count) => count === 1)).toBe(true);
    expect(module.members).toEqual([{ name: 'a', pending: 0 }]);
    expect(await outer(vector(7))).toEqual(vector(7));
    module.close();
  });

  test('the broker: what is pending rejects, and the device is found when it is back', async () => {
    const fragile = await startNatsServer({ auth: AUTH });
    opened.push(() => fragile.close());
    const { device } = await startServing({ name: 'desk' }, fragile);
    const clients = await fleet({ discoveryMs: 300 }, fragile);
    const { remote } = await clients.connect();
    const wait = await remote.getFunction('wait');
    const calls = [wait(), wait(HostTensor.zeros('uint8', [5_000_000]))];
    const outcomes = Promise.allSettled(calls);
    await fragile.kill();
    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { name: 'RemoteLostError' } });
    }
    expect(await remote.closed).toMatchObject({ name: 'RemoteLostError' });
    await fragile.restart();
    await expect
      .poll(() =>
        clients.connect('name=desk').then(
          ({ remote: again }) => (again.close(), true),
          () => false,
        ),
      )
      .toBe(true);
    expect(device.counters().bytesLive).toBe(0);
  });
});

describe('commands', () => {
  test('weft rpc serve serves over NATS, weft rpc devices lists it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'weft-fleet-'));
    opened.push(() => rm(folder, { recursive: true }));
    const [token, auth] = [join(folder, 'token'), join(folder, 'auth')];
    await writeFile(token, TOKEN);
    await writeFile(auth, AUTH);
    const where = { nats: server.url, natsAuth: auth };
    const served = captured();
    const stop = new AbortController();
    const device = ['wasm' as const];
    const flags = { ...where, tokenFile: token, device, group: 'lab', maxConnections: 3 };
    const running = serveNatsCommand({ ...flags, name: 'cli' }, served, stop.signal);
    await expect.poll(() => served.text()).toMatch(/^serves .* in group lab at nats:/);
    const listed = captured();
    expect(await devicesCommand('group=lab', where, listed)).toBe(0);
    expect(listed.text()).toMatch(/^name +group +device .*\ncli +lab +wasm .* 0 of 3 /);
    const { remote } = await (await fleet()).connect('name=cli class=wasm');
    const session = await Session.load(sumAndProduct().toBytes(), { remote, device: 'wasm' });
    expect(session.device).toMatchObject({ kind: 'wasm', reason: "The session requested 'wasm'." });
    const inputs = { x: Tensor.from([1, 2]), y: Tensor.from([3, 4]) };
    expect((await session.run(inputs))['product']?.toNested()).toEqual([3, 8]);
    await session.dispose();
    remote.close();
    await expect.poll(() => served.text()).toContain('client connected');
    stop.abort();
    expect(await running).toBe(0);
    const none = captured();
    expect(await devicesCommand('group=lab', where, none)).toBe(1);
    expect(none.text()).toBe('no devices\n');
  });
});

function captured(): Terminal & { text(): string } {
  let out = '';
  const add = (text: string): void => void (out += text);
  return { out: add, err: add, isInteractive: false, text: () => out };
}

describe('the configurations of docs/rpc.md', () => {
  async function blocks(): Promise<string[]> {
    const text = await readFile(new URL('../../../docs/rpc.md', import.meta.url), 'utf8');
    return [...text.matchAll(/```conf\n([\s\S]+?)```/g)].map(([, block]) => block ?? '');
  }

  test('are such', async () => {
    const [first = ''] = await blocks();
    const folder = await mkdtemp(join(tmpdir(), 'weft-conf-'));
    opened.push(() => rm(folder, { recursive: true }));
    const file = join(folder, 'nats.conf');
    await writeFile(file, first);
    const { status, stderr } = spawnSync(findNatsServer() ?? '', ['-t', '-c', file], {
      encoding: 'utf8',
    });
    expect({ status, stderr }).toMatchObject({ status: 0 });
    expect(first).toContain('websocket');
  });

  test('let a key serve and another one call, and no more', async () => {
    const [, second = ''] = await blocks();
    const [serverKey, clientKey] = [nkeys.createUser(), nkeys.createUser()];
    const configuration = second
      .replace('U…', serverKey.getPublicKey())
      .replace('U…', clientKey.getPublicKey());
    const guarded = await startNatsServer({ configuration });
    opened.push(() => guarded.close());
    const open = async (key: typeof serverKey): Promise<NatsConnection> => {
      const auth = new TextDecoder().decode(key.getSeed());
      const nats = await openBroker(guarded.url, { auth });
      opened.push(() => nats.close());
      return nats;
    };
    const [owner, client] = [await open(serverKey), await open(clientKey)];
    const serving = await serveNats(owner, { devices: [new TestDevice()], token: TOKEN });
    opened.push(() => serving.stop());
    const clients = new Fleet(client, { token: TOKEN });
    const hash = await clients.publish(testProgram());
    const { ExecutableObjects } = await import('../../rpc/nats/executable-objects.ts');
    const found = await new ExecutableObjects(owner).get(hash, 1e6);
    expect(found?.byteLength).toBe(testProgram().toBytes().byteLength);
    const module = await clients.load(testProgram(), { functions });
    expect(await (await module.getFunction('outer'))(vector(1))).toEqual(vector(2));
    module.close();
    // A client that pretends to be a device.
    await expect(
      serveNats(client, { devices: [new TestDevice()], token: TOKEN }).then(({ ended }) => ended),
    ).resolves.toMatchObject({ message: expect.stringMatching(/permission/i) });
  });
});
