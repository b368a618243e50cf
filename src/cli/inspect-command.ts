import type { Executable } from '../bytecode/index.ts';
import type { CompileLimits } from '../core/compile-limits.ts';
import { printExecutable } from '../bytecode/print.ts';
import { readProgram } from './read-program.ts';
import type { Terminal } from './terminal.ts';

export interface InspectFlags {
  readonly ts?: boolean;
  readonly stats?: boolean;
  readonly data?: boolean;
  readonly dim?: Record<string, number>;
  readonly limit?: CompileLimits;
}

/** `weft inspect`: the listing of a program, its builder calls, or its numbers. */
export async function inspectCommand(
  path: string,
  { ts = false, stats = false, data = false, dim = {}, limit }: InspectFlags,
  terminal: Terminal,
): Promise<number> {
  const executable = await readProgram(path, { dims: dim, compileLimits: limit });
  let text = listing(executable, data);
  if (ts) text = executable.toTypeScript();
  else if (stats) text = executable.stats();
  terminal.out(text.endsWith('\n') ? text : `${text}\n`);
  return 0;
}

/** Weights are left out unless asked for: they make megabytes of text. */
function listing(executable: Executable, withData: boolean): string {
  if (withData) return printExecutable(executable);
  const { data: _, ...program } = executable;
  return printExecutable(program);
}
