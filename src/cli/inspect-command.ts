import { readProgram } from './read-program.ts';
import type { Terminal } from './terminal.ts';

export interface InspectFlags {
  readonly ts?: boolean;
  readonly stats?: boolean;
  readonly dim?: Record<string, number>;
}

/** `weft inspect`: the listing of a program, its builder calls, or its numbers. */
export async function inspectCommand(
  path: string,
  { ts = false, stats = false, dim = {} }: InspectFlags,
  terminal: Terminal,
): Promise<number> {
  const executable = await readProgram(path, { dims: dim });
  let text = executable.toText();
  if (ts) text = executable.toTypeScript();
  else if (stats) text = executable.stats();
  terminal.out(text.endsWith('\n') ? text : `${text}\n`);
  return 0;
}
