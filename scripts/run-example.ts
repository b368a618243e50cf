import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { nodeGpu } from '../src/testing/node-gpu.ts';
import { builtEntry } from './run-ts/built-entry.mjs';

const entry = (path: string): string => resolve(`src/${path}`);

/** Source files of the package's names in its own repository. */
const PACKAGE: Readonly<Record<string, string>> = {
  'weft-vm': entry('client/index.ts'),
  'weft-vm/worker': entry('worker/index.ts'),
  'weft-vm/compiler': entry('frontend/index.ts'),
  'weft-vm/program': entry('program/index.ts'),
  'weft-vm/text': entry('text/index.ts'),
  'weft-vm/tasks': entry('tasks/index.ts'),
  'weft-vm/live': entry('tasks/live/index.ts'),
  'weft-vm/inspector': entry('inspector/index.ts'),
  'weft-vm/operators': entry('ops/index.ts'),
  'weft-vm/testing': entry('conformance/index.ts'),
  'weft-vm/executable': entry('bytecode/index.ts'),
  'weft-vm/vm': entry('runtime/index.ts'),
  'weft-vm/rpc': entry('rpc/index.ts'),
  'weft-vm/rpc/nats': entry('rpc/nats/index.ts'),
  'weft-vm/node': entry('cli/node.ts'),
};

/** Runs a module of the documentation in Node, where `navigator.gpu` is Dawn's. */
export async function main([file]: readonly string[]): Promise<number> {
  if (file === undefined) throw new Error('usage: run-example.ts FILE');
  const gpu = await nodeGpu();
  Object.defineProperty(globalThis, 'navigator', { value: { gpu }, configurable: true });
  await import(pathToFileURL(await builtEntry(resolve(file), PACKAGE)).href);
  return 0;
}
