import { resolve } from 'node:path';
import { runnerImport } from 'vite';
import { nodeGpu } from '../src/testing/node-gpu.ts';

const entry = (path: string): string => resolve(`src/${path}`);

/** Runs a module of the documentation in Node, where `navigator.gpu` is Dawn's. */
export async function main([file]: readonly string[]): Promise<number> {
  if (file === undefined) throw new Error('usage: run-example.ts FILE');
  const gpu = await nodeGpu();
  Object.defineProperty(globalThis, 'navigator', { value: { gpu }, configurable: true });
  await runnerImport(resolve(file), {
    configFile: false,
    logLevel: 'error',
    resolve: {
      alias: [
        { find: /^weft-vm$/, replacement: entry('client/index.ts') },
        { find: 'weft-vm/worker', replacement: entry('worker/index.ts') },
        { find: 'weft-vm/compiler', replacement: entry('frontend/index.ts') },
        { find: 'weft-vm/executable', replacement: entry('bytecode/index.ts') },
        { find: 'weft-vm/vm', replacement: entry('runtime/index.ts') },
        { find: 'weft-vm/rpc/nats', replacement: entry('rpc/nats/index.ts') },
        { find: 'weft-vm/rpc', replacement: entry('rpc/index.ts') },
        { find: 'weft-vm/node', replacement: entry('cli/node.ts') },
      ],
    },
  });
  return 0;
}
