import { Session, Tensor } from '../../client/index.ts';
import { type DeviceRates, launchTime, usualRates } from '../../core/contracts/device-rates.ts';
import { modelUrl } from '../open-session.ts';
import type { ModelWork } from './model-head.ts';

/**
 * Operations of the products of `device-probe.weft` in a call, and bytes that its stream reads and
 * writes.
 */
const PRODUCT_OPERATIONS = 4 * 2 * 512 ** 3;
const STREAM_BYTES = 4 * 4 * 2048 ** 2;
const TRIES = 2;

/** How fast a device is, and that it was measured in this page. */
export interface MeasuredDevice {
  readonly kind: 'webgpu' | 'wasm';
  readonly name: string;
  readonly rates: DeviceRates;
}

const measured = new Map<MeasuredDevice['kind'], Promise<MeasuredDevice>>();

/** Measures a device by small programs, once for each page. */
export function measureDevice(kind: MeasuredDevice['kind']): Promise<MeasuredDevice> {
  const known = measured.get(kind) ?? measure(kind);
  measured.set(kind, known);
  known.catch(() => measured.delete(kind));
  return known;
}

async function measure(device: MeasuredDevice['kind']): Promise<MeasuredDevice> {
  const session = await Session.load(modelUrl('device-probe.weft'), { device });
  try {
    const inputs = { seed: new Tensor('float32', Float32Array.of(0), [1, 1]) };
    const time = async (name: string): Promise<number> => {
      const times: number[] = [];
      // The first call plans and compiles.
      for (let i = 0; i <= TRIES; i++) {
        const begin = performance.now();
        await session.run(inputs, { function: name });
        times.push(performance.now() - begin);
      }
      return Math.min(...times.slice(1));
    };
    const roundTripMs = await time('main');
    const productMs = await time('product');
    const streamMs = await time('stream');
    const rates: DeviceRates = {
      roundTripMs,
      launchMs: usualRates(device === 'wasm' ? 'wasm' : 'integrated').launchMs,
      operationsPerMs: PRODUCT_OPERATIONS / beyond(productMs, roundTripMs),
      bytesPerMs: STREAM_BYTES / beyond(streamMs, roundTripMs),
    };
    return { kind: device, name: device === 'wasm' ? 'WebAssembly' : session.device.name, rates };
  } finally {
    await session.dispose();
  }
}

/** Clocks of browsers are coarse, and a fast device may take no longer than for nothing. */
function beyond(ms: number, idleMs: number): number {
  return Math.max(ms - idleMs, 0.1);
}

/** Milliseconds of a run, or of a token: all launches, each of average size. */
export function expectedMs(work: ModelWork, { rates }: Pick<MeasuredDevice, 'rates'>): number {
  const launches = Math.max(1, work.launches);
  const one = { operations: work.operations / launches, bytes: work.bytes / launches };
  return rates.roundTripMs + launches * launchTime(one, rates);
}
