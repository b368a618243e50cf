import type { PlannerCaps } from '../../src/core/contracts/launch-plan.ts';
import { benchCases, rateOf } from './cases.ts';
import { measureCeilings } from './ceilings.ts';
import { openGpu } from '../../src/device/webgpu/testing/open-gpu.ts';
import { timeCase } from './time-case.ts';

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
    const { ms, processorMs } = await timeCase(gpu, benchCase, { processorMs: ownMs });
    const { rate, unit, share } = rateOf(benchCase.work, { ms, ceilings });
    console.log(
      `${benchCase.title.padEnd(30)} ${ms.toFixed(2).padStart(9)} ms ` +
        `${rate.toFixed(2).padStart(8)} ${unit.padEnd(6)} ${`${Math.round(100 * share)}%`.padStart(4)} ` +
        `${processorMs.toFixed(2).padStart(9)} CPU ms`,
    );
  }
  gpu.device.destroy();
  return 0;
}

/** Milliseconds that this process has computed. */
function ownMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function parseClass(args: readonly string[]): PlannerCaps['adapterClass'] | undefined {
  const given = args[args.indexOf('--class') + 1];
  return given === 'software' || given === 'integrated' || given === 'discrete' ? given : undefined;
}
