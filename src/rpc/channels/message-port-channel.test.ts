import { expect, test } from 'vitest';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { TestDevice } from '../../runtime/testing/test-device.ts';
import { connect } from '../connect.ts';
import { messagePortChannel } from './message-port-channel.ts';
import { serve } from '../serve.ts';
import { LOCAL_ADD, testProgram, TOKEN } from '../testing/open-connection.ts';

test('a connection over a MessagePort: arguments stay the caller’s, the end is told', async () => {
  const { port1, port2 } = new MessageChannel();
  const device = new TestDevice();
  const served = serve(messagePortChannel(port1), { devices: [device], token: TOKEN });
  const remote = await connect(messagePortChannel(port2), { token: TOKEN });
  const module = await remote.load(testProgram(), { functions: { 'local.add': LOCAL_ADD } });
  const copy = await module.getFunction('copy');
  const whole = new Float32Array([1, 2, 3, 4]);
  const tensor = new HostTensor('float32', [2], whole.subarray(1, 3));
  expect(await copy(tensor)).toEqual(HostTensor.from('float32', [2], [2, 3]));
  expect(await (await module.getFunction('outer'))(tensor)).toEqual(
    HostTensor.from('float32', [2], [4, 6]),
  );
  expect(whole).toEqual(new Float32Array([1, 2, 3, 4]));
  remote.close();
  expect(await served.closed).toMatchObject({ name: 'RemoteLostError' });
  expect(device.counters().bytesLive).toBe(0);
});

test('what is no frame ends the connection', async () => {
  const { port1, port2 } = new MessageChannel();
  const served = serve(messagePortChannel(port1), { devices: [new TestDevice()], token: TOKEN });
  port2.postMessage({ something: 'else' });
  await expect(served.ready).rejects.toMatchObject({ name: 'RemoteLostError' });
  port2.close();
});

test('what is owned is transferred, what is not is copied', async () => {
  const { port1, port2 } = new MessageChannel();
  const [a, b] = [messagePortChannel(port1), messagePortChannel(port2)];
  const arrived: number[] = [];
  b.listen({
    frame: ({ body }) => arrived.push(body?.byteLength ?? 0),
    closed: () => undefined,
  });
  const [owned, kept, part] = [new Uint8Array(100), new Uint8Array(200), new Uint8Array(400)];
  const head = Uint8Array.of(1);
  a.send({ head, body: owned, isOwned: true });
  a.send({ head, body: kept });
  a.send({ head, body: part.subarray(0, 300), isOwned: true });
  await expect.poll(() => arrived).toEqual([100, 200, 300]);
  // A transferred buffer is empty here.
  expect([owned, kept, part].map(({ byteLength }) => byteLength)).toEqual([0, 200, 400]);
  a.close();
});
