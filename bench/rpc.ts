import { median } from '../src/core/median.ts';
import { HostTensor } from '../src/core/tensor/host-tensor.ts';
import { createHostDevice } from '../src/device/host/host-device.ts';
import { ExecBuilder } from '../src/bytecode/index.ts';
import { findNatsServer } from '../src/cli/rpc/testing/find-nats-server.mjs';
import { openBroker } from '../src/cli/rpc/nats-commands.ts';
import { startRelay } from '../src/cli/rpc/start-relay.ts';
import { startNatsServer } from '../src/cli/rpc/testing/nats-server.ts';
import {
  connect,
  createToken,
  deriveRelayToken,
  type ServedDevice,
  type Remote,
  serveRelay,
} from '../src/rpc/index.ts';
import type { MachineFigure } from './page/machine-steps.ts';
import { Fleet, serveNats } from '../src/rpc/nats/index.ts';

const CALLS = 500;
const LOADS = 10;
const WEIGHT_BYTE_LENGTH = 10 * 2 ** 20;

const OFFER = { nothing: () => null };

/** Round trips and shipping on loopback, through a relay and over NATS; all but the broker share a process. */
export async function measure(): Promise<MachineFigure[]> {
  const token = createToken();
  const device = createHostDevice();
  const figures = [...(await throughRelay(token, device)), ...(await overNats(token, device))];
  device.destroy();
  return figures;
}

async function throughRelay(token: string, device: ServedDevice): Promise<MachineFigure[]> {
  const relay = await startRelay({ port: 0, relayToken: await deriveRelayToken(token) });
  const key = 'bench';
  const serving = serveRelay(relay.url, { key, token, devices: [device], offer: OFFER });
  const figures = await timeRemote('a relay', await connect(relay.url, { key, token }));
  serving.stop();
  await serving.ended;
  await relay.close();
  return figures;
}

async function overNats(token: string, device: ServedDevice): Promise<MachineFigure[]> {
  if (findNatsServer() === undefined) {
    console.error('no nats-server here');
    return [];
  }
  const auth = createToken();
  const server = await startNatsServer({ auth });
  const [host, client] = [
    await openBroker(server.url, { auth }),
    await openBroker(server.url, { auth }),
  ];
  const serving = await serveNats(host, { token, devices: [device], offer: OFFER });
  const { remote } = await new Fleet(client, { token }).connect();
  const figures = await timeRemote('NATS, encrypted', remote);
  await serving.stop();
  await host.close();
  await client.close();
  await server.close();
  return figures;
}

/** How long empty calls and executables take; ends the session. */
async function timeRemote(way: string, remote: Remote): Promise<MachineFigure[]> {
  const nothing = await remote.getFunction('nothing');
  const trips: number[] = [];
  for (let i = 0; i < CALLS; i++) trips.push(await timed(() => nothing()));
  const shipped: number[] = [];
  const loaded: number[] = [];
  for (let i = 0; i < LOADS; i++) {
    const bytes = program(i);
    const rate = (durationMs: number): number => bytes.byteLength / 1e3 / durationMs;
    let shippedMs = 0;
    const begin = performance.now();
    const onProgress = (): void => void (shippedMs = performance.now() - begin);
    const module = await remote.load(bytes, { onProgress });
    shipped.push(rate(shippedMs));
    loaded.push(rate(performance.now() - begin));
    module.release();
  }
  remote.close();
  return [
    { what: `an empty call over ${way}, median of ${CALLS}`, value: median(trips), unit: 'ms' },
    { what: 'an executable of 10 MB, sent', value: median(shipped), unit: 'MB/s' },
    { what: 'the same, sent, checked and loaded', value: median(loaded), unit: 'MB/s' },
  ];
}

function program(seed: number): Uint8Array {
  const b = new ExecBuilder();
  const f = b.function('main');
  const weights = new Uint32Array(WEIGHT_BYTE_LENGTH / 4).map((_, i) =>
    Math.imul(i + seed, 2654435761),
  );
  f.ret(b.tensor(new HostTensor('uint32', [weights.length], weights)));
  return b.build().toBytes();
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
}
