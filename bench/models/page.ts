import { Session, Tensor } from '../../src/client/index.ts';

/** One model with one input set, as URLs that the benchmark's server answers. */
export interface BenchCase {
  readonly model: string;
  /** In the order of the model's inputs; the stored tensors need not have names. */
  readonly inputs: readonly { readonly shape: readonly number[]; readonly url: string }[];
}

export interface BenchResult {
  readonly weft: RuntimeFigures;
  readonly peer: RuntimeFigures;
  /** Largest |weft - peer| over all outputs, divided by the peer's range. */
  readonly differenceOverRange: number;
}

export interface RuntimeFigures {
  /** From the request to the first result. */
  readonly coldMs: number;
  /** Median of the warm runs. */
  readonly medianMs: number;
}

interface PeerTensor {
  readonly data: Float32Array;
}

interface PeerSession {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  run(feeds: Record<string, object>): Promise<Record<string, PeerTensor>>;
  release(): Promise<void>;
}

interface Peer {
  readonly env: { wasm: { wasmPaths: string; numThreads: number } };
  readonly InferenceSession: {
    create(model: Uint8Array, options: object): Promise<PeerSession>;
  };
  readonly Tensor: new (dtype: string, data: Float32Array, shape: readonly number[]) => object;
}

type Runner = () => Promise<readonly Float32Array[]>;

const bytesOf = async (url: string): Promise<Uint8Array> =>
  new Uint8Array(await (await fetch(url)).arrayBuffer());

async function startWeft(bench: BenchCase, data: readonly Float32Array[]): Promise<Runner> {
  const session = await Session.load(await bytesOf(bench.model), { device: 'webgpu' });
  const feeds = Object.fromEntries(
    bench.inputs.map(({ shape }, i) => [
      session.inputs[i]?.name ?? '',
      new Tensor('float32', data[i] ?? new Float32Array(), shape),
    ]),
  );
  return async () => {
    const outputs = await session.run(feeds);
    return Object.values(outputs).map((tensor) => tensor.data as Float32Array);
  };
}

async function startPeer(bench: BenchCase, data: readonly Float32Array[]): Promise<Runner> {
  const entry = '/peers/ort.webgpu.bundle.min.mjs';
  const peer = (await import(/* @vite-ignore */ entry)) as Peer;
  peer.env.wasm.wasmPaths = '/peers/';
  peer.env.wasm.numThreads = 1;
  const session = await peer.InferenceSession.create(await bytesOf(bench.model), {
    executionProviders: ['webgpu'],
  });
  const feeds = Object.fromEntries(
    bench.inputs.map(({ shape }, i) => [
      session.inputNames[i] ?? '',
      new peer.Tensor('float32', data[i] ?? new Float32Array(), shape),
    ]),
  );
  return async () => {
    const outputs = await session.run(feeds);
    return session.outputNames.map((name) => outputs[name]?.data ?? new Float32Array());
  };
}

/** Runs both runtimes A B A B on one case and returns medians. */
export async function runCase(bench: BenchCase, repeats: number): Promise<BenchResult> {
  const data = await Promise.all(
    bench.inputs.map(async ({ url }) => new Float32Array((await bytesOf(url)).buffer)),
  );
  const weft = await cold(() => startWeft(bench, data));
  const peer = await cold(() => startPeer(bench, data));
  const times: [number[], number[]] = [[], []];
  for (let i = 0; i < repeats; i++) {
    times[0].push(await timed(weft.run));
    times[1].push(await timed(peer.run));
  }
  return {
    weft: { coldMs: weft.coldMs, medianMs: median(times[0]) },
    peer: { coldMs: peer.coldMs, medianMs: median(times[1]) },
    differenceOverRange: difference(weft.first, peer.first),
  };
}

async function cold(start: () => Promise<Runner>) {
  const begin = performance.now();
  const run = await start();
  const first = await run();
  return { run, first, coldMs: performance.now() - begin };
}

async function timed(run: Runner): Promise<number> {
  const begin = performance.now();
  await run();
  return performance.now() - begin;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function difference(actual: readonly Float32Array[], expected: readonly Float32Array[]): number {
  let worst = 0;
  let low = Infinity;
  let high = -Infinity;
  expected.forEach((output, o) => {
    output.forEach((value, i) => {
      worst = Math.max(worst, Math.abs(value - (actual[o]?.[i] ?? Number.NaN)));
      low = Math.min(low, value);
      high = Math.max(high, value);
    });
  });
  return worst / Math.max(high - low, 1e-6);
}

declare global {
  var runBenchCase: typeof runCase;
}
globalThis.runBenchCase = runCase;
