import { writeJson } from '../report.ts';
import { aborted, interrupted } from '../rpc/rpc-commands.ts';
import type { Terminal } from '../terminal.ts';
import { serveFolder } from './serve-folder.ts';

/** Policies by name; another text is a policy itself. */
const POLICIES: Readonly<Record<string, string | undefined>> = {
  none: undefined,
  strict: "default-src 'self'",
  wasm: "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'",
};

export interface ServeFlags {
  readonly port: number;
  readonly csp: string;
  readonly isolated?: boolean;
  readonly cors?: boolean;
  readonly json?: boolean;
}

/** `weft serve`: serves a folder on this machine until the signal. */
export async function serveFilesCommand(
  path: string,
  { port, csp, isolated = false, cors = false, json = false }: ServeFlags,
  terminal: Terminal,
  signal: AbortSignal = interrupted(),
): Promise<number> {
  const policy = Object.hasOwn(POLICIES, csp) ? POLICIES[csp] : csp;
  const served = await serveFolder({
    path,
    port,
    policy,
    isIsolated: isolated,
    isShared: cors,
  });
  if (json) writeJson(terminal, 'serve', { url: served.url, policy });
  else terminal.out(`${path} at ${served.url}\n`);
  await aborted(signal);
  await served.close();
  return 0;
}
