import { HostTensor } from '../../src/core/host-tensor.ts';
import { createHostDevice } from '../../src/device/host/host-device.ts';
import { ExecBuilder } from '../../src/bytecode/index.ts';
import { connect, createToken, serveRelay } from '../../src/rpc/index.ts';
import { startRelay } from '../../src/cli/rpc/start-relay.ts';

const CALLS = 500;
const LOADS = 10;
const WEIGHT_BYTE_LENGTH = 10 * 2 ** 20;

/** Round trips and shipping through a relay on loopback; relay and both sides share a process. */
export async function main(): Promise<number> {
  const token = createToken();
  const relay = await startRelay({ port: 0, token });
  const device = createHostDevice();
  const offer = { nothing: () => null };
  const serving = serveRelay(relay.url, { key: 'bench', token, devices: [device], offer });
  const remote = await connect(relay.url, { key: 'bench', token });
  const nothing = await remote.getFunction('nothing');
  const trips: number[] = [];
  for (let i = 0; i < CALLS; i++) trips.push(await timed(() => nothing()));
  console.log(`empty call: median ${median(trips).toFixed(3)} ms of ${CALLS}`);
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
  console.log(`10 MB executable: sent with ${median(shipped).toFixed(0)} MB/s`);
  console.log(`10 MB executable: sent, checked and loaded with ${median(loaded).toFixed(0)} MB/s`);
  remote.close();
  serving.stop();
  await serving.ended;
  await relay.close();
  device.destroy();
  return 0;
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

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
