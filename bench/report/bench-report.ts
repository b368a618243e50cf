import type { Ceilings } from '../kernels/ceilings.ts';
import type { MachineFigure } from '../page/machine-steps.ts';
import type { AdapterFacts } from './adapter-facts.ts';
import type { FamilyCheck } from './check-kernels.ts';
import type { KernelTime } from './time-kernel-cases.ts';
import type { ModelTime } from './time-models.ts';
import type { ModelTuning } from './tune-models.ts';

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
