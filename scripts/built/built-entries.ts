import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';
import { ENTRIES } from '../library.config.ts';

const dist = fileURLToPath(new URL('../../dist/', import.meta.url));

/**
 * Imports of an entry of the package get the built one: tests that know the package by its entries
 * then run what ships. Throws where it is not built.
 */
export function builtEntries(): Plugin {
  const built = new Map(
    Object.entries(ENTRIES).map(([name, source]) => [source, `${dist}${name}.js`]),
  );
  return {
    name: 'weft:built-entries',
    enforce: 'pre',
    async resolveId(source, importer) {
      const resolved = await this.resolve(source, importer, { skipSelf: true });
      const file = resolved === null ? undefined : built.get(resolved.id);
      if (file === undefined) return resolved;
      if (!existsSync(file)) throw new Error(`There is no ${file}: run \`npm run build\` first.`);
      return { id: file, external: true };
    },
  };
}
