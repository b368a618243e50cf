import { Session, Tensor } from '../../src/client/index.ts';
import { compileOnnx } from '../../src/frontend/index.ts';
import { nodeGpu } from '../../src/testing/node-gpu.ts';
import { type GpuLedger, ledgerOf } from './gpu-ledger.ts';
import type { MemorySample } from './memory-sample.ts';
import { MODEL_COLUMNS, MODEL_ROWS, modelFile } from './model-file.ts';

declare const gc: undefined | (() => void);

const SAMPLES_PER_RUN = 20;

/**
 * `node --expose-gc scripts/run-ts.mjs scripts/memory/load-cycles.ts DEVICE CYCLES [keep]`: loads a
 * model of 6 MB, runs it and disposes of it so many times, and prints samples of the memory as JSON.
 * `keep` leaves another session of the same device open, which keeps the device alive.
 */
export async function main([device = '', count = '', keep]: readonly string[]): Promise<number> {
  const cycles = Number(count);
  if ((device !== 'host' && device !== 'webgpu') || !(cycles >= SAMPLES_PER_RUN)) {
    console.error(`got ${device} ${count}, expected host or webgpu, and ${SAMPLES_PER_RUN} cycles`);
    return 2;
  }
  const ledger = device === 'webgpu' ? ledgerOf(await nodeGpu()) : undefined;
  const options = { device, worker: false, ...(ledger && { gpu: ledger.gpu }) } as const;
  const file = compileOnnx(modelFile()).toBytes();
  const other = keep === undefined ? undefined : await Session.load(file, options);
  const samples: MemorySample[] = [];
  for (let cycle = 1; cycle <= cycles; cycle++) {
    const session = await Session.load(file, options);
    const x = new Tensor('float32', new Float32Array(MODEL_ROWS).fill(1), [1, MODEL_ROWS]);
    const { y } = await session.run({ x });
    if (y?.data.length !== MODEL_COLUMNS) throw new Error('internal: no result');
    await session.dispose();
    if (cycle % Math.floor(cycles / SAMPLES_PER_RUN) === 0) {
      samples.push(await sample(cycle, ledger));
    }
  }
  await other?.dispose();
  console.log(JSON.stringify(samples));
  return 0;
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
