import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { Session, Tensor } from '../../client/index.ts';
import { compile, parseModule } from '../../compiler/index.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { MAX_FRAME_BYTE_LENGTH } from '../../rpc/channels/frame-bytes.ts';
import {
  connect,
  serve,
  type Served,
  type ServeOptions,
  webSocketChannel,
} from '../../rpc/index.ts';
import { LOCAL_ADD, testProgram, TOKEN } from '../../rpc/testing/open-connection.ts';
import { TestDevice } from '../../runtime/testing/test-device.ts';
import { createDevice } from '../../worker/index.ts';

const opened: (() => void)[] = [];

afterEach(() => {
  for (const close of opened.splice(0)) close();
});

/** A process that listens itself, without a relay. */
async function listening(
  devices: ServeOptions['devices'] = [new TestDevice()],
): Promise<{ url: string; connections: Served[] }> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  opened.push(() => server.close());
  opened.push(() => {
    for (const client of server.clients) client.terminate();
  });
  const connections: Served[] = [];
  server.on('connection', (socket) => {
    const options = { devices, token: TOKEN };
    connections.push(serve(webSocketChannel(socket), options));
  });
  await once(server, 'listening');
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`, connections };
}

test('a connection over a socket without a relay', async () => {
  const { url, connections } = await listening();
  const remote = await connect(url, { token: TOKEN });
  const module = await remote.load(testProgram(), { functions: { 'local.add': LOCAL_ADD } });
  const outer = await module.getFunction('outer');
  const x = HostTensor.from('float32', [2], [1, 2]);
  expect(await outer(x)).toEqual(HostTensor.from('float32', [2], [2, 4]));
  remote.close();
  expect(await connections[0]?.closed).toMatchObject({ name: 'RemoteLostError' });
});

test('a session over a socket is traced, compared and debugged', async () => {
  const device = await createDevice('wasm');
  const { url, connections } = await listening([device]);
  const program = compile(
    parseModule('def @main(%x: Tensor[(n,), float32]) { cumulative(exp(%x), axis=0) }'),
  ).toBytes();
  const remote = await connect(url, { token: TOKEN });
  const session = await Session.load(program, { remote });
  const x = Tensor.from([1, 2, 3]);
  const { departure, calls } = await session.compare({ x });
  expect({ departure, calls }).toEqual({ departure: undefined, calls: 2 });
  const traced = await session.trace({ x });
  const { result } = await session.run({ x });
  expect(traced.at(-1)?.tensor).toEqual(result);
  const run = await session.debug({ x });
  expect((await run.continue()).outputs).toEqual({ result });
  expect((await run.stepBack()).reason).toBe('step');
  remote.close();
  await connections[0]?.closed;
  await expect.poll(() => device.counters().bytesLive).toBe(0);
  device.destroy();
});

test.each([
  ['a text', 'hello', 4003],
  ['an empty message', new Uint8Array(0), 4003],
  ['a cut frame', Uint8Array.of(200, 0, 0, 0, 1, 2), 4003],
  ['a frame that is too large', new Uint8Array(MAX_FRAME_BYTE_LENGTH + 1), 4009],
])('%s ends it with a typed error', async (_, message, code) => {
  const { url, connections } = await listening();
  const socket = new WebSocket(url);
  await once(socket, 'open');
  const closed = once(socket, 'close');
  socket.send(message);
  expect((await closed)[0]).toBe(code);
  await expect(connections[0]?.ready).rejects.toMatchObject({ name: 'RemoteLostError' });
});
