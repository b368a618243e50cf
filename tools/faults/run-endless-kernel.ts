import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { EndlessFindings } from './find-endless.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PROCESS_TIMEOUT_MS = 90_000;
/** Of the device, in milliseconds. */
const DEVICE_TIMEOUT = 2000;

/** The effect of an endless kernel of so many workgroups in Node, in a process of its own that it may keep. */
export async function runEndlessKernel(workgroups: number): Promise<EndlessFindings> {
  const script = ['scripts/run-ts.mjs', 'tools/faults/endless-kernel.ts'];
  const args = [workgroups, DEVICE_TIMEOUT].map(String);
  const command = ['scripts/with-gpu.mjs', 'node', ...script, ...args];
  const { stdout } = await promisify(execFile)(process.execPath, command, {
    cwd: ROOT,
    timeout: PROCESS_TIMEOUT_MS,
  });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as EndlessFindings;
}
