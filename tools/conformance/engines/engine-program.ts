// Runs inside an engine: in its page, or in Deno as one file without imports.
import type { AdapterClass } from '../../../src/core/contracts/launch-plan.ts';
import { oneGpuDevice } from '../../../src/device/testing/one-gpu-device.ts';
import { compareOperator } from '../../../src/device/testing/compare-operator.ts';
import { CONFORMANCE_OPS } from '../../../src/device/testing/conformance-ops.ts';
import { openAdapter } from '../../../src/device/webgpu/adapter.ts';
import { seededRandom } from '../../../src/core/random.ts';
import type { EngineFacts, OperatorReport, Sample } from './engine.ts';

const CLASSES: readonly AdapterClass[] = ['software', 'integrated', 'discrete'];

/** The adapter as Weft sees it. */
export async function describeEngine(gpu: GPU | undefined): Promise<EngineFacts> {
  const { device, info, caps, hasTimestamps } = await openAdapter({ gpu });
  device.destroy();
  return {
    adapter: info.name,
    adapterClass: caps.adapterClass,
    hasFloat16: caps.shaderF16,
    hasSubgroups: caps.subgroups,
    hasTimestamps,
  };
}

/** Runs the cases of operators as on adapters of each class, or a share of them that a seed draws. */
export async function runOperators(
  gpu: GPU | undefined,
  { share, seed }: Sample,
): Promise<OperatorReport> {
  const random = seededRandom(seed);
  const open = oneGpuDevice(async () => {
    if (gpu === undefined) throw new Error('This engine has no `gpu` object.');
    return gpu;
  });
  let caseCount = 0;
  const failures: string[] = [];
  for (const adapterClass of CLASSES) {
    const device = await open(adapterClass);
    for (const op of CONFORMANCE_OPS) {
      if (random() >= share) continue;
      const { caseCount: count, differences } = await compareOperator(device, op).catch(
        (error: unknown) => ({ caseCount: 1, differences: [String(error)] }),
      );
      caseCount += count;
      failures.push(...differences.map((line) => `${op.name}, ${adapterClass}: ${line}`));
    }
  }
  return { caseCount, failures };
}
