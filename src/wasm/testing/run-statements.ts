import { encodeModule } from '../encode-module.ts';
import type { Statement } from '../statement.ts';

/** Runs statements over a memory of one page that begins with these words, and gives the memory. */
export function runStatements(
  body: readonly Statement[],
  words: ArrayLike<number> = [],
): Int32Array {
  const memory = new WebAssembly.Memory({ initial: 1 });
  new Int32Array(memory.buffer).set(Array.from(words));
  const module = new WebAssembly.Module(
    encodeModule({ groups: [[{ name: 'main', params: [], body }]] }),
  );
  const { 0: main } = new WebAssembly.Instance(module, { env: { memory } }).exports;
  if (typeof main !== 'function') throw new Error('no main');
  main();
  return new Int32Array(memory.buffer);
}
