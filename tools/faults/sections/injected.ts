import { GPU_OPERATIONS } from '../../../src/testing/faulty-gpu.ts';
import { nodeGpu } from '../../../src/testing/node-gpu.ts';
import { injectEverywhere, LIFE_KINDS } from '../../faults/device-faults.ts';
import type { Row } from './row.ts';

/** A fault at every call of every operation of WebGPU in the lives of a session, a language model and a training. */
export async function injected(): Promise<readonly Row[]> {
  const real = await nodeGpu();
  const rows: Row[] = [];
  for (const mode of ['refuse', 'lose'] as const) {
    for (const operation of GPU_OPERATIONS) {
      // Before there is a device none can be lost.
      if (mode === 'lose' && operation.startsWith('request')) continue;
      let [faults, failed] = [0, 0];
      const problems: string[] = [];
      for (const life of LIFE_KINDS) {
        for (const isBeside of [false, true]) {
          const report = await injectEverywhere(real, {
            operation,
            mode,
            life,
            isBeside,
          });
          faults += report.faults;
          failed += report.failed;
          problems.push(...report.problems);
        }
      }
      for (const problem of problems) console.error(problem);
      rows.push({
        title: `${operation}: ${mode === 'lose' ? 'the device is lost' : 'refused'}`,
        wanted: 'typed, nothing left, next call right',
        got: `${faults} faults, ${failed} typed errors, ${problems.length} problems`,
        ok: faults > 0 && problems.length === 0,
      });
    }
  }
  return rows;
}
