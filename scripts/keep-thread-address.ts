import { dirname, relative } from 'node:path';
import type { Plugin } from 'vite';

/** Puts the address of a package's entry for threads of Node in the place of that of its source. */
export function keepThreadAddress(entry: string): Plugin {
  const source = `'./${entry}-main.ts'`;
  const mark = `__WEFT_ADDRESS_OF_${entry.replaceAll('-', '_').toUpperCase()}__`;
  return {
    name: `weft:keep-thread-address-${entry}`,
    enforce: 'pre',
    transform(code) {
      if (!code.includes(source)) return null;
      return { code: code.replace(source, mark), map: null };
    },
    renderChunk(code, chunk) {
      if (!code.includes(mark)) return null;
      const path = relative(dirname(chunk.fileName), `${entry}.js`).replaceAll('\\', '/');
      const address = path.startsWith('.') ? path : `./${path}`;
      return { code: code.replaceAll(mark, JSON.stringify(address)), map: null };
    },
  };
}
