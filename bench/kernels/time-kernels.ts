import type { PlannerCaps } from '../../src/core/launch-plan.ts';
import { elementCount } from '../../src/core/shape.ts';
import { plan } from '../../src/device/webgpu/planner/plan.ts';
import { CORE_OPERATORS } from '../../src/ops/core-operators.ts';
import { seededRandom } from '../../src/core/random.ts';
import { type BenchCase, benchCases } from './cases.ts';
import { measureCeilings } from './ceilings.ts';
import { type Gpu, openGpu } from './open-gpu.ts';
import { preparePlan, storageBuffer } from './prepare-plan.ts';

/**
 * Times the planner's kernels: `[--class software|integrated|discrete] [FILTER]`. Prints
 * the best of several runs with the rate and its share of a ceiling measured in the same process.
 */
export async function timeKernels(args: readonly string[]): Promise<number> {
  const adapterClass = parseClass(args);
  const filter = args.find((arg, i) => !arg.startsWith('--') && args[i - 1] !== '--class') ?? '';
  const gpu = await openGpu(adapterClass);
  const ceilings = await measureCeilings(gpu);
  console.log(
    `${gpu.name}, class ${gpu.caps.adapterClass}; ceilings: ` +
      `${ceilings.gflops.toFixed(1)} GFLOPS (registers), ${ceilings.gbps.toFixed(1)} GB/s (copy)`,
  );
  for (const benchCase of benchCases().filter(({ title }) => title.includes(filter))) {
    const { ms, cpuMs } = await timeCase(gpu, benchCase);
    const { work } = benchCase;
    const [rate, ceiling, unit] =
      'flops' in work
        ? [work.flops / ms / 1e6, ceilings.gflops, 'GFLOPS']
        : [work.bytes / ms / 1e6, ceilings.gbps, 'GB/s'];
    const share = `${Math.round((100 * rate) / ceiling)}%`;
    console.log(
      `${benchCase.title.padEnd(30)} ${ms.toFixed(2).padStart(9)} ms ` +
        `${rate.toFixed(2).padStart(8)} ${unit.padEnd(6)} ${share.padStart(4)} ${cpuMs.toFixed(2).padStart(9)} CPU ms`,
    );
  }
  gpu.device.destroy();
  return 0;
}

function parseClass(args: readonly string[]): PlannerCaps['adapterClass'] | undefined {
  const given = args[args.indexOf('--class') + 1];
  return given === 'software' || given === 'integrated' || given === 'discrete' ? given : undefined;
}

/** Wall time is the result; processor time tells whether somebody else had the cores meanwhile. */
interface Timing {
  readonly ms: number;
  readonly cpuMs: number;
}

async function timeCase(gpu: Gpu, { primitive }: BenchCase): Promise<Timing> {
  const random = seededRandom(1);
  const params = primitive.params.map(({ shape }) => shape.map(Number));
  const results = primitive.results.map(({ type }) => type.shape.map(Number));
  const launchPlan = plan(
    primitive,
    { params, results },
    { caps: gpu.caps, operators: CORE_OPERATORS },
  );
  const buffers = [
    ...params.map((shape) =>
      Float32Array.from({ length: elementCount(shape) }, () => random() - 0.5),
    ),
    ...results.map((shape) => new Float32Array(elementCount(shape))),
  ].map((data) => storageBuffer(gpu, data));
  const prepared = await preparePlan(gpu, launchPlan, buffers);
  await prepared.run();
  let ms = Number.POSITIVE_INFINITY;
  let cpuMs = Number.POSITIVE_INFINITY;
  const deadline = performance.now() + 1000;
  for (let i = 0; i < 20 && (i < 3 || performance.now() < deadline); i++) {
    const before = process.cpuUsage();
    ms = Math.min(ms, await prepared.run());
    const { user, system } = process.cpuUsage(before);
    cpuMs = Math.min(cpuMs, (user + system) / 1000);
  }
  for (const buffer of buffers) buffer.destroy();
  return { ms, cpuMs };
}
