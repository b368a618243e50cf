import { type DeviceRates, launchTime } from '../../core/device-rates.ts';
import type { ProgramWork } from './program-work.ts';

/** Milliseconds of a run on WebGPU. Each call of a kernel on the host costs a round trip. */
export function estimateOnGpu(work: ProgramWork, rates: DeviceRates, host: DeviceRates): number {
  const { onHost } = work;
  const trips = 1 + onHost.reduce((sum, { count }) => sum + count, 0);
  return trips * rates.roundTripMs + launchesMs(work.launches, rates) + launchesMs(onHost, host);
}

/** Milliseconds of a run on a processor. */
export function estimateOnProcessor({ launches, onHost }: ProgramWork, rates: DeviceRates): number {
  return rates.roundTripMs + launchesMs([...launches, ...onHost], rates);
}

/** One after the other: each computes or waits for memory. */
function launchesMs(launches: ProgramWork['launches'], rates: DeviceRates): number {
  return launches.reduce((sum, launch) => sum + launch.count * launchTime(launch, rates), 0);
}
