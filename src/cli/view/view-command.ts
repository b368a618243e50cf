import { basename, dirname, join } from 'node:path';
import type { CompileLimits } from '../../core/limits/compile-limits.ts';
import { isExecutableFile } from '../files/open-executable.ts';
import { readBytes } from '../files/read-file.ts';
import { formatOf, looksLikeText, readProgram } from '../files/read-program.ts';
import { writeJson } from '../report.ts';
import { aborted, interrupted } from '../rpc/rpc-commands.ts';
import type { Terminal } from '../terminal.ts';
import { type ServedSource, serveView } from './serve-view.ts';

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
  const source = await sourceOf(path, dim);
  const view = await serveView({ executable, title: basename(path), source, device, port });
  if (json === true) writeJson(terminal, 'view', { url: view.url });
  else terminal.out(`${basename(path)} at ${view.url}\n`);
  await aborted(signal);
  await view.close();
  return 0;
}

/** Reads the source of a program; undefined for an executable. */
export async function sourceOf(
  path: string,
  dims: Record<string, number>,
): Promise<ServedSource | undefined> {
  if (await isExecutableFile(path)) return undefined;
  const bytes = await readBytes(path);
  if (looksLikeText(path, bytes)) return { bytes, isText: true, dims };
  const { externalRanges } = await formatOf(bytes);
  const names = externalRanges(bytes).map((range) => range.path);
  const siblings = new Map(names.map((name) => [name, join(dirname(path), name)]));
  return { bytes, isText: false, dims, siblings };
}
