import { type RatesOfBoth, usualRates } from '../../core/contracts/device-rates.ts';
import type { SharedDevice } from '../devices/device-pool.ts';
import { FirstRuns } from './first-runs.ts';
import { PlaceStore } from './place-store.ts';

/** Rates of an adapter and of WebAssembly beside it, as they were measured, or guesses. */
export async function ratesOfBoth(shared: SharedDevice): Promise<RatesOfBoth> {
  const { findings } = await PlaceStore.of(shared);
  const { adapterClass } = shared.device.info;
  const isGpu = adapterClass !== 'host' && adapterClass !== 'wasm';
  return {
    webgpu: findings.gpu ?? usualRates(isGpu ? adapterClass : 'integrated'),
    wasm: findings.wasm ?? usualRates('wasm'),
  };
}

/** Measures the adapter of a session after its first runs, for the next program that is placed on both. */
export async function firstRuns(shared: SharedDevice): Promise<FirstRuns | undefined> {
  if (shared.device.kind !== 'webgpu') return undefined;
  return new FirstRuns({ store: await PlaceStore.of(shared), kind: 'webgpu', trial: undefined });
}
