import type { AdapterClass } from './launch-plan.ts';

/** Times and throughputs of a device, by which runs are estimated. */
export interface DeviceRates {
  /** Milliseconds that reading the result of a small launch takes, apart from the launch. */
  readonly roundTripMs: number;
  /** Milliseconds of one more small launch before that. */
  readonly launchMs: number;
  /** Additions and multiplications of a product of matrices. */
  readonly operationsPerMs: number;
  /** Bytes that an addition of large tensors reads and writes. */
  readonly bytesPerMs: number;
}

/** Rates of WebGPU on an adapter, and of WebAssembly on the processor beside it. */
export interface RatesOfBoth {
  readonly webgpu: DeviceRates;
  readonly wasm: DeviceRates;
}

export interface LaunchAmount {
  /** Additions and multiplications, about. */
  readonly operations: number;
  /** Bytes that it reads and writes. */
  readonly bytes: number;
}

/** Guesses for devices that nobody has measured yet. */
const USUAL_RATES: Readonly<Record<Exclude<AdapterClass, 'software'> | 'wasm', DeviceRates>> = {
  discrete: { roundTripMs: 0.8, launchMs: 0.01, operationsPerMs: 2e9, bytesPerMs: 2e8 },
  integrated: { roundTripMs: 0.8, launchMs: 0.02, operationsPerMs: 2e8, bytesPerMs: 2e7 },
  wasm: { roundTripMs: 0.02, launchMs: 0.002, operationsPerMs: 2.5e7, bytesPerMs: 1e7 },
};

/** The rates that such a device is guessed to have before it is measured. */
export function usualRates(kind: AdapterClass | 'wasm'): DeviceRates {
  return USUAL_RATES[kind === 'software' ? 'integrated' : kind];
}

/** Milliseconds of a launch among others: it computes or waits for memory. */
export function launchTime({ operations, bytes }: LaunchAmount, rates: DeviceRates): number {
  return rates.launchMs + Math.max(operations / rates.operationsPerMs, bytes / rates.bytesPerMs);
}
