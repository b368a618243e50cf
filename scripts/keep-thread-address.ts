import { dirname, relative } from 'node:path';
import type { Plugin } from 'vite';

const SOURCE = './compile-thread-main.ts';
const MARK = '__WEFT_THREAD_ADDRESS__';

/** Puts the address of the package's entry for threads of Node in the place of that of its source. */
export function keepThreadAddress(entry: string): Plugin {
  return {
    name: 'weft:keep-thread-address',
    enforce: 'pre',
    transform(code) {
      if (!code.includes(`'${SOURCE}'`)) return null;
      return { code: code.replace(`'${SOURCE}'`, MARK), map: null };
    },
    renderChunk(code, chunk) {
      if (!code.includes(MARK)) return null;
      const path = relative(dirname(chunk.fileName), `${entry}.js`).replaceAll('\\', '/');
      const address = path.startsWith('.') ? path : `./${path}`;
      return { code: code.replaceAll(MARK, JSON.stringify(address)), map: null };
    },
  };
}
