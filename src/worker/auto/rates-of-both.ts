import { type RatesOfBoth, usualRates } from '../../core/contracts/device-rates.ts';
import type { SharedDevice } from '../devices/device-pool.ts';
import type { HostedSession } from '../host/hosted-session.ts';
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
export async function measureLater(hosted: HostedSession): Promise<void> {
  if (hosted.device.device.kind !== 'webgpu') return;
  const store = await PlaceStore.of(hosted.device);
  new FirstRuns({ store, kind: 'webgpu', trial: undefined }).follow(hosted);
}
