import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { FoundCase } from '../find-cases.ts';
import type { Outcome } from '../conformance-case.ts';
import { llvmpipeEnvironment } from '../../../scripts/find-firefox.mjs';
import { bundleProgram } from './bundle-program.ts';
import type { Engine, EngineFacts, OperatorReport, Sample } from './engine.ts';

export type DenoRequest =
  | { readonly kind: 'describe' }
  | { readonly kind: 'operators'; readonly sample: Sample }
  | { readonly kind: 'case'; readonly found: FoundCase };

type Reply = { readonly value: unknown } | { readonly error: string };

const here = fileURLToPath(new URL('.', import.meta.url));
const packageFolder = join(here, 'node_modules/deno');

/** Deno of this folder's package.json, installed when it is first asked for. */
export async function openDenoEngine(): Promise<Engine> {
  if (!existsSync(packageFolder)) {
    console.log('Installing Deno (tools/conformance/engines/package.json) …');
    execFileSync('npm', ['ci'], { cwd: here, stdio: 'inherit' });
  }
  const { version } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as {
    version: string;
  };
  const program = await bundleProgram('deno-program');
  const deno = spawn(
    process.execPath,
    [join(packageFolder, 'bin.cjs'), 'run', '--allow-all', '--unstable-webgpu', program],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: {
        ...llvmpipeEnvironment(),
        ...(process.platform === 'linux' ? { DENO_WEBGPU_BACKEND: 'vulkan' } : {}),
      },
    },
  );
  const replies = createInterface({ input: deno.stdout })[Symbol.asyncIterator]();
  const ask = async (request: DenoRequest): Promise<unknown> => {
    deno.stdin.write(`${JSON.stringify(request)}\n`);
    const { value: line, done } = await replies.next();
    if (done === true) throw new Error(`Deno ended while asked for: ${request.kind}.`);
    const reply = JSON.parse(line) as Reply;
    if ('error' in reply) throw new Error(reply.error);
    return reply.value;
  };
  const title = `Deno ${version} (wgpu)`;
  return {
    title,
    describe: async () => (await ask({ kind: 'describe' })) as EngineFacts,
    runOperators: async (sample) => (await ask({ kind: 'operators', sample })) as OperatorReport,
    run: async (found) => (await ask({ kind: 'case', found })) as Outcome[],
    async close() {
      deno.stdin.end();
      if (deno.exitCode === null) await once(deno, 'exit');
    },
  };
}
