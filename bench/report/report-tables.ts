import { figure, markdown } from '../table.ts';
import { type AdapterFacts, type BenchReport, complaintsOf } from './bench-report.ts';
import type { KernelTime } from './kernels.ts';
import type { ModelTuning } from './models.ts';

/** A part of the report, for the page and for the terminal. */
interface ReportTable {
  readonly title: string;
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** All tables of a report that have rows. */
export function reportTables(report: BenchReport): ReportTable[] {
  const { adapter, families, kernels, tunings } = report;
  const tables: ReportTable[] = [
    { title: 'Machine', header: ['what', 'is'], rows: machineRows(report) },
    {
      title: 'Correctness beside the host device',
      header: ['kernels', 'operators', 'cases', 'departing'],
      rows: families.map(({ family, operatorCount, caseCount, differences }) =>
        [family, operatorCount, caseCount, differences.length].map(String),
      ),
    },
    { title: 'Costs of the machine', header: ['cost', 'figure', 'unit'], rows: costRows(report) },
    {
      title: 'Kernels alone',
      header: ['kernel', 'ms', 'rate', 'of ceiling'],
      rows: kernels.map(kernelRow),
    },
    {
      title: 'Whole models, inputs and outputs in the page',
      header: ['model', 'device', 'ms', 'tuned ms'],
      rows: modelRows(report),
    },
    {
      title: 'Tuning',
      header: ['model', 'kernels', 'with another variant', 'time of these before', 'after'],
      rows: tunings.map(tuningRow),
    },
    ...(adapter === undefined
      ? []
      : [
          {
            title: 'Features of the adapter',
            header: ['feature'],
            rows: adapter.features.map((name) => [name]),
          },
          { title: 'Limits of the adapter', header: ['limit', 'value'], rows: limitRows(adapter) },
        ]),
    {
      title: 'Complaints and notes',
      header: ['line'],
      rows: [...complaintsOf(report), ...report.notes].map((line) => [line]),
    },
  ];
  return tables.filter(({ rows }) => rows.length > 0);
}

/** The tables as Markdown. */
export function reportMarkdown(report: BenchReport): string {
  const tables = reportTables(report).map(
    ({ title, header, rows }) => `### ${title}\n\n${markdown(header, rows)}`,
  );
  return `${tables.join('\n\n')}\n`;
}

function machineRows({ weft, date, scope, state, durationMs, browser, adapter }: BenchReport) {
  const seconds = Math.round(durationMs / 1000);
  return [
    ['Weft', weft],
    ['measured', `${date}, ${scope}, ${state} after ${seconds} s`],
    ['browser', browser.userAgent],
    ['processor', `${browser.cores} cores${browser.isIsolated ? ', isolated' : ''}`],
    ['adapter', adapter === undefined ? 'none' : adapterName(adapter)],
    ...(adapter === undefined
      ? []
      : [
          ['kernels for', `${adapter.adapterClass} adapters`],
          ['subgroups', adapter.subgroupSizes.join(' to ')],
        ]),
  ];
}

/** Everything that the browser tells. */
const adapterName = ({ vendor, architecture, device, description }: AdapterFacts): string =>
  [vendor, architecture, device, description].filter((word) => word !== '').join(' ') || 'unnamed';

function costRows({ costs, ceilings }: BenchReport): string[][] {
  return [
    ...costs.map(({ what, value, unit }) => [what, figure(value), unit]),
    ...(ceilings === undefined
      ? []
      : [
          ['multiply-adds in registers', figure(ceilings.gflops), 'GFLOPS'],
          ['copying in memory, read and written', figure(ceilings.gbps), 'GB/s'],
        ]),
  ];
}

function kernelRow(kernel: KernelTime): string[] {
  if ('failure' in kernel) return [kernel.title, 'fails', '', ''];
  const { title, ms, rate, unit, share } = kernel;
  return [title, figure(ms), `${figure(rate)} ${unit}`, `${Math.round(100 * share)}%`];
}

function modelRows({ models, tunings }: BenchReport): string[][] {
  return models.map(({ name, title, device, result }) => {
    const tuned =
      device === 'webgpu' ? tunings.find((tuning) => tuning.name === name)?.after : undefined;
    return [title, device, timeOf(result), tuned === undefined ? '' : timeOf(tuned)];
  });
}

const timeOf = (result: ModelTuning['after']): string =>
  'ms' in result ? figure(result.ms) : 'fails';

function tuningRow({ name, isComplete, kernels }: ModelTuning): string[] {
  const better = kernels.filter(({ choices }) => Object.keys(choices).length > 0);
  const sum = (times: readonly number[]): string =>
    times.length === 0 ? '' : `${figure(times.reduce((total, ms) => total + ms, 0))} ms`;
  return [
    name,
    `${kernels.length}${isComplete ? '' : ', no time for others'}`,
    String(better.length),
    sum(better.map(({ firstMs }) => firstMs)),
    sum(better.map(({ chosenMs }) => chosenMs)),
  ];
}

function limitRows({ limits }: AdapterFacts): string[][] {
  return Object.entries(limits).map(([name, value]) => [name, value.toLocaleString('en')]);
}
