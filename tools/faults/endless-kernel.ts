import { nodeGpu } from '../../src/testing/node-gpu.ts';
import { doubleProgram, endlessProgram } from './endless-program.ts';
import { findEndless } from './find-endless.ts';

/**
 * `node scripts/run-ts.mjs tools/faults/endless-kernel.ts WORKGROUPS DEVICE_TIMEOUT`: prints what an
 * endless kernel does to the sessions of a process, as JSON.
 */
export async function main([workgroups = '', timeout = '']: readonly string[]): Promise<number> {
  const programs = { endless: endlessProgram(Number(workgroups)), innocent: doubleProgram() };
  const options = { worker: false, gpu: await nodeGpu(), deviceTimeout: Number(timeout) };
  console.log(JSON.stringify(await findEndless(programs, options)));
  // A thread of Dawn's never ends.
  process.exit(0);
}
