import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { MemorySample } from './memory-sample.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface Cycles {
  readonly device: 'host' | 'webgpu';
  readonly count: number;
  /** Another session keeps the device alive; else each cycle opens one. */
  readonly isDeviceKept?: boolean;
}

/** Runs cycles in a process of its own, in which nothing else is. */
export async function runCycles({
  device,
  count,
  isDeviceKept = false,
}: Cycles): Promise<readonly MemorySample[]> {
  const script = ['scripts/run-ts.mjs', 'scripts/memory/load-cycles.ts', device, String(count)];
  const node = ['scripts/with-gpu.mjs', 'node', '--expose-gc', ...script];
  const command = isDeviceKept ? [...node, 'keep'] : node;
  const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: ROOT });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as MemorySample[];
}
