import { type LoadOptions, Session, Tensor } from '../../src/client/index.ts';
import { compileOnnx } from '../../src/frontend/index.ts';
import { nodeGpu } from '../../src/testing/node-gpu.ts';
import { FEATURES, smallModel } from '../faults/small-model.ts';
import { type GpuLedger, ledgerOf } from './gpu-ledger.ts';
import type { MemorySample } from './memory-sample.ts';
import { MODEL_COLUMNS, MODEL_ROWS, modelFile } from './model-file.ts';

declare const gc: undefined | (() => void);

const SAMPLES_PER_RUN = 20;
/** Sizes of inputs are from 1 to this. */
const MOST_ROWS = 100;

const KINDS: Readonly<Record<string, (place: LoadOptions) => Promise<Cycle>>> = {
  loads: loading,
  'loads beside another': async (place) => {
    const other = await Session.load(compileOnnx(modelFile()).toBytes(), place);
    const { work } = await loading(place);
    return { work, end: () => other.dispose() };
  },
  sizes: changingSizes,
};

/**
 * `node --expose-gc scripts/run-ts.mjs tools/memory/load-cycles.ts DEVICE CYCLES KIND` prints samples of the
 * memory as JSON. `loads` loads a model of 6 MB, runs it and disposes of it so many times; with another session of
 * the same device open, which keeps the device alive. `sizes` runs one session on inputs of other sizes each time.
 */
export async function main([
  device = '',
  count = '',
  kind = '',
]: readonly string[]): Promise<number> {
  const cycles = Number(count);
  const open = KINDS[kind];
  if (!/^(host|wasm|webgpu)$/.test(device) || !(cycles >= SAMPLES_PER_RUN) || open === undefined) {
    const kinds = Object.keys(KINDS).join(', ');
    console.error(
      `got ${device} ${count} ${kind}, expected a device, ${SAMPLES_PER_RUN} or more cycles, and ${kinds}`,
    );
    return 2;
  }
  const ledger = device === 'webgpu' ? ledgerOf(await nodeGpu()) : undefined;
  const place = { device, worker: false, ...(ledger && { gpu: ledger.gpu }) } as LoadOptions;
  const { work, end } = await open(place);
  const samples: MemorySample[] = [];
  for (let cycle = 1; cycle <= cycles; cycle++) {
    await work(cycle);
    if (cycle % Math.floor(cycles / SAMPLES_PER_RUN) === 0) {
      samples.push(await sample(cycle, ledger));
    }
  }
  await end();
  console.log(JSON.stringify(samples));
  return 0;
}

interface Cycle {
  readonly work: (cycle: number) => Promise<void>;
  readonly end: () => Promise<void>;
}

async function loading(place: LoadOptions): Promise<Cycle> {
  const file = compileOnnx(modelFile()).toBytes();
  const work = async (): Promise<void> => {
    const session = await Session.load(file, place);
    const x = new Tensor('float32', new Float32Array(MODEL_ROWS).fill(1), [1, MODEL_ROWS]);
    const { y } = await session.run({ x });
    if (y?.data.length !== MODEL_COLUMNS) throw new Error('internal: no result');
    await session.dispose();
  };
  return { work, end: async () => undefined };
}

async function changingSizes(place: LoadOptions): Promise<Cycle> {
  const session = await Session.load(smallModel(true), place);
  const work = async (cycle: number): Promise<void> => {
    const rows = 1 + ((cycle * 37) % MOST_ROWS);
    const x = new Tensor('float32', new Float32Array(rows * FEATURES).fill(cycle % 7), [
      rows,
      FEATURES,
    ]);
    const { y } = await session.run({ x });
    // Rows of a softmax.
    const sum = [...(y?.data ?? [])].reduce<number>((total, value) => total + Number(value), 0);
    if (!(Math.abs(sum - rows) < 1e-3 * rows))
      throw new Error(`internal: a sum of ${sum}, not ${rows}`);
  };
  return { work, end: () => session.dispose() };
}

async function sample(cycle: number, ledger: GpuLedger | undefined): Promise<MemorySample> {
  if (gc === undefined) throw new Error('start Node with --expose-gc');
  for (let round = 0; round < 3; round++) {
    await new Promise((wake) => setTimeout(wake, 20));
    gc();
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  const deviceBytes = ledger?.liveBytes() ?? 0;
  return { cycle, scriptBytes: heapUsed + external, processBytes: rss, deviceBytes };
}
