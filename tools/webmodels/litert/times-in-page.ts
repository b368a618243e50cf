import type { PeerPage } from './litert-package.ts';

// These functions run in the page, so each has all that it needs within.

/** A model at `/model.tflite` with one input, and how long it is timed. */
export interface RaceOrder {
  readonly input: string;
  readonly shape: readonly number[];
  /** False for Weft in the page's own thread. */
  readonly worker: boolean;
  readonly warmMs: number;
  readonly rounds: number;
  /** At least so long for each round. */
  readonly roundMs: number;
}

/** Milliseconds of a run in each round, from arrays to arrays. */
export interface RaceTimes {
  readonly weft: readonly number[];
  readonly liteRt: readonly number[];
}

/** Runs a model by turns in Weft and in LiteRT.js, both on wasm and one thread. */
export async function race(order: RaceOrder): Promise<RaceTimes> {
  const { input, shape, worker, warmMs, rounds, roundMs } = order;
  const page = globalThis as unknown as PeerPage;
  const { Session, Tensor } = await page.importWeft();
  const peer = await page.importLiteRt();
  page.liteRt ??= peer.loadLiteRt('/peers/@litertjs/core/wasm/');
  await page.liteRt;
  const session = await Session.load('/model.tflite', { device: 'wasm', threads: 1, worker });
  const model = await peer.loadAndCompile('/model.tflite', {
    accelerator: 'wasm',
    cpuOptions: { numThreads: 1 },
  });
  const count = shape.reduce((product, dim) => product * dim, 1);
  const data = Float32Array.from({ length: count }, (_, i) => 0.5 + 0.5 * Math.sin(i / 50));
  const runWeft = async (): Promise<void> => {
    const outputs = await session.run({ [input]: new Tensor('float32', data, shape) });
    for (const output of Object.values(outputs)) output.dispose();
  };
  const runLiteRt = async (): Promise<void> => {
    const given = new peer.Tensor(data, shape);
    const outputs = await model.run([given]);
    for (const output of outputs) {
      await output.data();
      output.delete();
    }
    given.delete();
  };
  const timed = async (run: () => Promise<void>, least: number): Promise<number> => {
    const begin = performance.now();
    let runs = 0;
    do {
      await run();
      runs++;
    } while (performance.now() - begin < least);
    return (performance.now() - begin) / runs;
  };
  const [weft, liteRt]: [number[], number[]] = [[], []];
  await timed(runWeft, warmMs);
  await timed(runLiteRt, warmMs);
  for (let round = 0; round < rounds; round++) {
    weft.push(await timed(runWeft, roundMs));
    liteRt.push(await timed(runLiteRt, roundMs));
  }
  await session.dispose();
  model.delete();
  return { weft, liteRt };
}

/** Milliseconds from nothing loaded to the first outputs of the model at `/model.tflite`. */
export async function startCold(order: {
  readonly runtime: 'weft' | 'liteRt';
  readonly input: string;
  readonly shape: readonly number[];
}): Promise<number> {
  const { runtime, input, shape } = order;
  const page = globalThis as unknown as PeerPage;
  const data = new Float32Array(shape.reduce((product, dim) => product * dim, 1));
  const begin = performance.now();
  if (runtime === 'weft') {
    const { Session, Tensor } = await page.importWeft();
    const session = await Session.load('/model.tflite', { device: 'wasm', threads: 1 });
    await session.run({ [input]: new Tensor('float32', data, shape) });
  } else {
    const peer = await page.importLiteRt();
    await peer.loadLiteRt('/peers/@litertjs/core/wasm/');
    const model = await peer.loadAndCompile('/model.tflite', {
      accelerator: 'wasm',
      cpuOptions: { numThreads: 1 },
    });
    const outputs = await model.run([new peer.Tensor(data, shape)]);
    for (const output of outputs) await output.data();
  }
  return performance.now() - begin;
}
