import type { BenchDevice } from '../cases/bench-case.ts';
import { type Ceilings, measureCeilings as measure } from '../kernels/ceilings.ts';
import { REGISTER_OPERATIONS } from './register-operations.ts';

export interface AdapterReport extends Ceilings {
  /** Its name, with what it is. */
  readonly adapter: string;
}

/** The ceilings of what a device of Weft runs on. */
export const measureCeilings = (device: BenchDevice): Promise<AdapterReport> => MEASURES[device]();

const MEASURES: Readonly<Record<BenchDevice, () => Promise<AdapterReport>>> = {
  webgpu: ofAdapter,
  wasm: ofProcessor,
};

/** Throws where there is none. */
async function ofAdapter(): Promise<AdapterReport> {
  const adapter = await navigator.gpu.requestAdapter();
  if (adapter === null) throw new Error('this browser has no WebGPU adapter');
  const device = await adapter.requestDevice();
  try {
    const { vendor, architecture, description } = adapter.info;
    const name = [vendor, architecture, description].filter((word) => word !== '').join(' ');
    return { adapter: `adapter ${name}`, ...(await measure({ device })) };
  } finally {
    device.destroy();
  }
}

const COPIED_BYTES = 1 << 24;
const REPEATS = 20;

/** One core of it. */
async function ofProcessor(): Promise<AdapterReport> {
  const { startRegisterLoop } = await import('./register-loops.ts');
  const sums = startRegisterLoop('multiply-adds');
  const [source, target] = [new Uint8Array(COPIED_BYTES).fill(1), new Uint8Array(COPIED_BYTES)];
  let [sumMs, copyMs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let i = 0; i < REPEATS; i++) {
    const begin = performance.now();
    for (let loop = 0; loop < REPEATS; loop++) void sums.run();
    const middle = performance.now();
    target.set(source);
    sumMs = Math.min(sumMs, (middle - begin) / REPEATS);
    copyMs = Math.min(copyMs, performance.now() - middle);
  }
  return {
    adapter: crossOriginIsolated ? 'one core, isolated' : 'one core',
    gflops: REGISTER_OPERATIONS['multiply-adds'] / sumMs / 1e6,
    gbps: (2 * COPIED_BYTES) / copyMs / 1e6,
  };
}
