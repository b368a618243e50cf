import type { DeviceRates } from '../../core/contracts/device-rates.ts';
import type { Device } from '../../device/device.ts';
import { type MeasuringTurn, measureRates } from '../../device/measure-rates.ts';
import type { DeviceKind } from '../protocol/loaded-session.ts';
import type { PlaceStore } from './place-store.ts';

/** The store in which the rates of a device are kept, and their key. */
interface RatesPlace {
  readonly store: PlaceStore;
  readonly kind: DeviceKind;
}

/**
 * The rates of a device: those measured earlier, maybe on an earlier visit, or else measured now.
 */
export async function measuredRates(
  device: Device,
  { store, kind }: RatesPlace,
  turn?: MeasuringTurn,
): Promise<DeviceRates> {
  const name = kind === 'webgpu' ? 'gpu' : 'wasm';
  const known = store.findings[name];
  if (known !== undefined) return known;
  const rates = await measureRates(device, turn);
  await store.add({ [name]: rates });
  return rates;
}
