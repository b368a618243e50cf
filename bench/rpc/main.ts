import { median } from '../../src/core/median.ts';
import { HostTensor } from '../../src/core/tensor/host-tensor.ts';
import { createHostDevice } from '../../src/device/host/host-device.ts';
import { ExecBuilder } from '../../src/bytecode/index.ts';
import { findNatsServer } from '../../src/cli/rpc/testing/find-nats-server.mjs';
import { openBroker } from '../../src/cli/rpc/nats-commands.ts';
import { startRelay } from '../../src/cli/rpc/start-relay.ts';
import { startNatsServer } from '../../src/cli/rpc/testing/nats-server.ts';
import {
  connect,
  createToken,
  deriveRelayToken,
  type ServedDevice,
  type Remote,
  serveRelay,
} from '../../src/rpc/index.ts';
import { Fleet, serveNats } from '../../src/rpc/nats/index.ts';

const CALLS = 500;
const LOADS = 10;
const WEIGHT_BYTE_LENGTH = 10 * 2 ** 20;

const OFFER = { nothing: () => null };

/** Round trips and shipping on loopback, through a relay and over NATS; all but the broker share a process. */
export async function main(): Promise<number> {
  const token = createToken();
  const device = createHostDevice();
  await throughRelay(token, device);
  await overNats(token, device);
  device.destroy();
  return 0;
}

async function throughRelay(token: string, device: ServedDevice): Promise<void> {
  const relay = await startRelay({ port: 0, relayToken: await deriveRelayToken(token) });
  const key = 'bench';
  const serving = serveRelay(relay.url, { key, token, devices: [device], offer: OFFER });
  console.log('through a relay');
  await measure(await connect(relay.url, { key, token }));
  serving.stop();
  await serving.ended;
  await relay.close();
}

async function overNats(token: string, device: ServedDevice): Promise<void> {
  if (findNatsServer() === undefined) {
    console.log('no nats-server here');
    return;
  }
  const auth = createToken();
  const server = await startNatsServer({ auth });
  const [host, client] = [
    await openBroker(server.url, { auth }),
    await openBroker(server.url, { auth }),
  ];
  const serving = await serveNats(host, { token, devices: [device], offer: OFFER });
  console.log('over NATS, encrypted');
  await measure((await new Fleet(client, { token }).connect()).remote);
  await serving.stop();
  await host.close();
  await client.close();
  await server.close();
}

/** Prints how long empty calls and executables take, and ends the session. */
async function measure(remote: Remote): Promise<void> {
  const nothing = await remote.getFunction('nothing');
  const trips: number[] = [];
  for (let i = 0; i < CALLS; i++) trips.push(await timed(() => nothing()));
  console.log(`  empty call: median ${median(trips).toFixed(3)} ms of ${CALLS}`);
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
  console.log(`  10 MB executable: sent with ${median(shipped).toFixed(0)} MB/s`);
  console.log(
    `  10 MB executable: sent, checked and loaded with ${median(loaded).toFixed(0)} MB/s`,
  );
  remote.close();
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
