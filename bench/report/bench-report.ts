import type { OpenedAdapter } from '../../src/device/webgpu/adapter.ts';
import type { Ceilings } from '../kernels/ceilings.ts';
import type { MachineFigure } from '../page/machine-steps.ts';
import type { FamilyCheck, KernelTime } from './kernels.ts';
import type { ModelTime, ModelTuning } from './models.ts';

/** Says what the JSON is. */
const SCHEMA = 'weft-bench-report';
/** Changes when a field changes its meaning or goes; new fields change nothing. */
const SCHEMA_VERSION = 1;

/** Everything that was measured on one machine. Times are in milliseconds. */
export interface BenchReport {
  readonly schema: typeof SCHEMA;
  readonly version: typeof SCHEMA_VERSION;
  /** Of Weft. */
  readonly weft: string;
  /** ISO 8601. */
  readonly date: string;
  readonly scope: 'full' | 'quick';
  /** `cancelled`: what was measured until then. */
  state: 'running' | 'complete' | 'cancelled';
  durationMs: number;
  readonly browser: BrowserFacts;
  /** Absent without WebGPU. */
  adapter?: AdapterFacts;
  ceilings?: Ceilings;
  readonly families: FamilyCheck[];
  readonly costs: MachineFigure[];
  readonly kernels: KernelTime[];
  readonly models: ModelTime[];
  readonly tunings: ModelTuning[];
  /** Parts that were left out, or failed as a whole, and why. */
  readonly notes: string[];
}

/** The browser as it describes itself. */
interface BrowserFacts {
  readonly userAgent: string;
  readonly cores: number;
  readonly isIsolated: boolean;
}

/** An empty report of this page. */
export function startReport(weft: string, scope: BenchReport['scope']): BenchReport {
  return {
    schema: SCHEMA,
    version: SCHEMA_VERSION,
    weft,
    date: new Date().toISOString(),
    scope,
    state: 'running',
    durationMs: 0,
    browser: {
      // Node has none before version 21, where tests run too.
      userAgent: globalThis.navigator?.userAgent ?? '',
      cores: globalThis.navigator?.hardwareConcurrency ?? 1,
      isIsolated: 'crossOriginIsolated' in globalThis && globalThis.crossOriginIsolated,
    },
    families: [],
    costs: [],
    kernels: [],
    models: [],
    tunings: [],
    notes: [],
  };
}

/** Everything that is wrong on this adapter, a line each: kernels and models that depart, and what failed. */
export function complaintsOf({ families, kernels, models }: BenchReport): string[] {
  return [
    ...families.flatMap(({ family, differences }) =>
      differences.map((difference) => `${family}: ${difference}`),
    ),
    ...kernels.flatMap((kernel) =>
      'failure' in kernel ? [`${kernel.title} fails: ${kernel.failure}`] : [],
    ),
    ...models.flatMap(({ name, device, result }) => {
      if ('failure' in result) return [`${name} on ${device} fails: ${result.failure}`];
      const { difference, tolerance } = result;
      // Not `>`: a difference that is no number is none that is small.
      return difference === undefined || difference <= tolerance
        ? []
        : [`${name} on ${device} departs from the host by ${difference} of its range`];
    }),
  ];
}

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
