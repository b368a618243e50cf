import { readFile } from 'node:fs/promises';
import type { Plugin } from 'vite';

/** WGSL without comments, indentation and blank lines. Names stay, for messages and profiles. */
export function stripWgsl(source: string): string {
  return stripComments(source)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n');
}

/** WGSL has no strings, so every comment sign is one; block comments nest. */
function stripComments(source: string): string {
  let result = '';
  let depth = 0;
  for (let i = 0; i < source.length; i++) {
    const pair = source.slice(i, i + 2);
    if (pair === '/*') {
      depth++;
      i++;
    } else if (pair === '*/' && depth > 0) {
      depth--;
      i++;
      if (depth === 0) result += ' ';
    } else if (depth === 0 && pair === '//') {
      const end = source.indexOf('\n', i);
      if (end < 0) return result;
      i = end - 1;
    } else if (depth === 0) {
      result += source[i];
    }
  }
  return result;
}

/** Strips `*.wgsl?raw` imports in builds; tests and the development server see the files as they are. */
export function minifyWgsl(): Plugin {
  return {
    name: 'weft:minify-wgsl',
    apply: 'build',
    enforce: 'pre',
    async load(id) {
      const [file, query] = id.split('?');
      if (query !== 'raw' || file === undefined || !file.endsWith('.wgsl')) return null;
      this.addWatchFile(file);
      const text = stripWgsl(await readFile(file, 'utf8'));
      return { code: `export default ${JSON.stringify(text)};`, moduleType: 'js' };
    },
  };
}
