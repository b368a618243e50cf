import { runBrowserCycles } from '../../memory/browser-cycles.ts';
import { growthOf, MAX_GROWTH_BYTES } from '../../memory/growth.ts';
import type { MemorySample } from '../../memory/memory-sample.ts';
import { type Cycles, runCycles } from '../../memory/run-cycles.ts';
import type { Row } from './row.ts';

const CYCLES = 1000;
const WARM_UP_CYCLES = 100;

const IN_NODE: readonly (Omit<Cycles, 'count'> & { readonly title: string })[] = [
  { title: 'Node, host', device: 'host', kind: 'loads' },
  { title: 'Node, WebGPU', device: 'webgpu', kind: 'loads beside another' },
  { title: 'Node, WebGPU, a device each', device: 'webgpu', kind: 'loads' },
];

/** 1,000 times load, run and dispose of a model of 6 MB: what is left of it. */
export async function memory(): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const { title, ...cycles } of IN_NODE) {
    rows.push(...rowsOf(title, await runCycles({ ...cycles, count: CYCLES })));
  }
  for (const device of ['host', 'webgpu'] as const) {
    const title = `Chromium's worker, ${device === 'host' ? 'host' : 'WebGPU'}`;
    rows.push(...rowsOf(title, await runBrowserCycles(device, CYCLES)));
  }
  return rows;
}

function rowsOf(title: string, samples: readonly MemorySample[]): Row[] {
  const compared = samples.filter(({ cycle }) => cycle >= WARM_UP_CYCLES);
  const device = new Set(samples.map(({ deviceBytes }) => deviceBytes));
  return [
    growthRow(`${title}: memory of JavaScript`, compared, ({ scriptBytes }) => scriptBytes),
    growthRow(`${title}: memory of the process`, compared, ({ processBytes }) => processBytes),
    {
      title: `${title}: bytes on the device`,
      wanted: 'always the same',
      got: [...device].map(megabytes).join(', '),
      ok: device.size === 1,
    },
  ];
}

function growthRow(
  title: string,
  samples: readonly MemorySample[],
  bytesOf: (sample: MemorySample) => number,
): Row {
  const growth = growthOf(samples, bytesOf);
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined) throw new Error('internal: no samples');
  return {
    title,
    wanted: `+${megabytes(MAX_GROWTH_BYTES)} at most in 900 cycles`,
    got: `${growth < 0 ? '' : '+'}${megabytes(growth)} (${megabytes(bytesOf(first))} after ${first.cycle}, ${megabytes(bytesOf(last))} after ${last.cycle})`,
    ok: growth <= MAX_GROWTH_BYTES,
  };
}

function megabytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MB`;
}
