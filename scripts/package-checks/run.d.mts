import type { SpawnOptions } from 'node:child_process';

export interface RunResult {
  readonly isGood: boolean;
  /** Both streams, as they came. */
  readonly output: string;
}

export function run(
  command: string,
  args: readonly string[],
  options?: SpawnOptions,
): Promise<RunResult>;
export function runNode(args: readonly string[], options?: SpawnOptions): Promise<RunResult>;
