import { basename } from 'node:path';
import type { CompileLimits } from '../../core/compile-limits.ts';
import { readProgram } from '../read-program.ts';
import { writeJson } from '../report.ts';
import { aborted, interrupted } from '../rpc/rpc-commands.ts';
import type { Terminal } from '../terminal.ts';
import { serveView } from './serve-view.ts';

export interface ViewFlags {
  readonly port: number;
  readonly device: string;
  readonly dim?: Record<string, number>;
  readonly limit?: CompileLimits;
  readonly json?: boolean;
}

/** `weft view`: serves the inspector with a program on this machine until the signal. */
export async function viewCommand(
  path: string,
  { port, device, dim = {}, limit, json }: ViewFlags,
  terminal: Terminal,
  signal: AbortSignal = interrupted(),
): Promise<number> {
  const program = await readProgram(path, { dims: dim, compileLimits: limit });
  const executable = program.toBytes();
  const view = await serveView({ executable, title: basename(path), device, port });
  if (json === true) writeJson(terminal, 'view', { url: view.url });
  else terminal.out(`${basename(path)} at ${view.url}\n`);
  await aborted(signal);
  await view.close();
  return 0;
}
