import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { MemorySample } from './memory-sample.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface Cycles {
  readonly device: 'host' | 'wasm' | 'webgpu';
  readonly count: number;
  /** What a cycle does, as load-cycles.ts describes it. */
  readonly kind: 'loads' | 'loads beside another' | 'sizes';
}

/** Runs cycles in a process of its own, in which nothing else is. */
export async function runCycles({ device, count, kind }: Cycles): Promise<readonly MemorySample[]> {
  const script = ['tools/memory/load-cycles.ts', device, String(count), kind];
  const command = ['scripts/with-gpu.mjs', 'node', '--expose-gc', 'scripts/run-ts.mjs', ...script];
  const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: ROOT });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as MemorySample[];
}
