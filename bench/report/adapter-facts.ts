import type { OpenedAdapter } from '../../src/device/webgpu/adapter.ts';

/** The adapter as it describes itself, and the class of adapters that Weft puts it into. */
export interface AdapterFacts {
  readonly vendor: string;
  readonly architecture: string;
  readonly device: string;
  readonly description: string;
  /** The family of kernels that Weft plans for it. */
  readonly adapterClass: string;
  readonly isFallback: boolean;
  readonly subgroupSizes: readonly [least: number, most: number];
  readonly features: readonly string[];
  readonly limits: Readonly<Record<string, number>>;
}

/** The facts of the adapter of a device that Weft opened. */
export function adapterFacts({ device, caps }: OpenedAdapter, adapter: GPUAdapter): AdapterFacts {
  const { info, features, limits } = adapter;
  return {
    vendor: info.vendor,
    architecture: info.architecture,
    device: info.device,
    description: info.description,
    adapterClass: caps.adapterClass,
    isFallback: info.isFallbackAdapter,
    subgroupSizes: [info.subgroupMinSize, info.subgroupMaxSize],
    features: [...features].toSorted(),
    limits: Object.fromEntries(limitsOf(limits, device.limits)),
  };
}

/** Those of the adapter, by the names that the limits of a device have; they lie in the prototype. */
function limitsOf(limits: GPUSupportedLimits, of: GPUSupportedLimits): [string, number][] {
  const found: [string, number][] = [];
  for (const name in of) {
    const value: unknown = Reflect.get(limits, name);
    if (typeof value === 'number') found.push([name, value]);
  }
  return found.toSorted(([a], [b]) => (a < b ? -1 : 1));
}
