import { nodeGpu } from '../../src/testing/node-gpu.ts';
import { openNodeRunner } from '../conformance/node-runner.ts';
import type { Engine } from './engine.ts';
import { describeEngine, runOperators } from './engine-program.ts';

/** Dawn in this process. */
export async function openNodeEngine(): Promise<Engine> {
  const gpu = await nodeGpu();
  return {
    ...(await openNodeRunner('dawn')),
    title: `Node ${process.versions.node} (Dawn)`,
    describe: () => describeEngine(gpu),
    runOperators: (sample) => runOperators(gpu, sample),
  };
}
