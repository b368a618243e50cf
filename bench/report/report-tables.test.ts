import { expect, test } from 'vitest';
import { type BenchReport, complaintsOf, startReport } from './bench-report.ts';
import { reportMarkdown, reportTables } from './report-tables.ts';

/** A report with one of everything. */
function sampleReport(): BenchReport {
  const report = startReport('1.2.3', 'full');
  report.state = 'complete';
  report.ceilings = { gflops: 1000, gbps: 100 };
  report.adapter = {
    vendor: 'maker',
    architecture: 'family',
    device: '',
    description: '',
    adapterClass: 'discrete',
    isFallback: false,
    subgroupSizes: [32, 32],
    features: ['shader-f16'],
    limits: { maxBufferSize: 2 ** 31 },
  };
  report.families.push({ family: 'linear', operatorCount: 3, caseCount: 12, differences: [] });
  report.costs.push({ what: 'reading one number back', value: 0.21, unit: 'ms' });
  report.kernels.push(
    { title: 'matmul', ms: 0.5, rate: 500, unit: 'GFLOPS', share: 0.5 },
    { title: 'add', failure: 'no memory' },
  );
  const result = {
    ms: 2,
    medianMs: 2,
    fastestMs: 1,
    runs: 3,
    difference: 1e-6,
    tolerance: 1e-3,
    isInPage: false,
  };
  report.models.push({ name: 'digits', title: 'digits', device: 'webgpu', result });
  const tuning = { kernel: 'matmul', choices: { product: 'tiles' }, tried: [] };
  report.tunings.push({
    name: 'digits',
    isComplete: false,
    kernels: [
      { ...tuning, firstMs: 1, chosenMs: 0.5 },
      { ...tuning, choices: {}, firstMs: 7, chosenMs: 7 },
    ],
    after: { ...result, ms: 1.5 },
  });
  return report;
}

const rowsOf = (report: BenchReport, title: string) =>
  reportTables(report).find((table) => table.title === title)?.rows;

test('a row for each thing that was measured, and none for what was not', () => {
  const report = sampleReport();
  expect(rowsOf(report, 'Kernels alone')).toEqual([
    ['matmul', '0.50', '500 GFLOPS', '50%'],
    ['add', 'fails', '', ''],
  ]);
  expect(rowsOf(report, 'Whole models, inputs and outputs in the page')).toEqual([
    ['digits', 'webgpu', '2.00', '1.50'],
  ]);
  expect(rowsOf(report, 'Tuning')).toEqual([
    ['digits', '2, no time for others', '1', '1.00 ms', '0.50 ms'],
  ]);
  expect(rowsOf(report, 'Costs of the machine')).toContainEqual([
    'copying in memory, read and written',
    '100',
    'GB/s',
  ]);
  expect(reportTables(startReport('1.2.3', 'quick')).map(({ title }) => title)).toEqual([
    'Machine',
  ]);
});

test('what is wrong is said in a line each, and in the tables', () => {
  const report = sampleReport();
  expect(complaintsOf(report)).toEqual(['add fails: no memory']);
  report.families[0]?.differences.push('matmul, 3x3: 1 of 9 elements differ');
  const [model] = report.models;
  if (model === undefined || 'failure' in model.result) throw new Error('internal: no model');
  report.models.push(
    { ...model, result: { ...model.result, difference: 0.5 } },
    { ...model, device: 'wasm', result: { failure: 'out of memory' } },
  );
  expect(complaintsOf(report)).toEqual([
    'linear: matmul, 3x3: 1 of 9 elements differ',
    'add fails: no memory',
    'digits on webgpu departs from the host by 0.5 of its range',
    'digits on wasm fails: out of memory',
  ]);
  expect(reportMarkdown(report)).toContain('### Complaints and notes');
});

test('a difference that is no number is a departure', () => {
  const report = sampleReport();
  const [model] = report.models;
  if (model === undefined || 'failure' in model.result) throw new Error('internal: no model');
  report.models.push({ ...model, result: { ...model.result, difference: Number.NaN } });
  expect(complaintsOf(report)).toContain(
    'digits on webgpu departs from the host by NaN of its range',
  );
});
