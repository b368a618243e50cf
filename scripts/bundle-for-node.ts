import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { rolldown } from 'rolldown';
import type { Plugin } from 'vite';

/** Packages in CommonJS that the package brings along for Node, by the file to bundle. */
const PACKAGES: Readonly<Record<string, string>> = { commander: 'esm.mjs', ws: 'wrapper.mjs' };

/** Native parts of `ws`, which it does without where they are not installed. */
const OPTIONAL = ['bufferutil', 'utf-8-validate'];

/** The name in package.json's `imports` that is `ws` in Node and an error everywhere else. */
const SOCKETS = '#ws';
const PAGE_SIDE = /\/src\/rpc\//;

/** The file of a package that {@link bundleForNode} makes one module of. */
export function nodePackageFile(name: string): string {
  const require = createRequire(import.meta.url);
  return join(dirname(require.resolve(name)), PACKAGES[name] ?? '');
}

/**
 * Makes one module for Node of each package in CommonJS, where a build for browsers would lose its
 * `require`. What pages load too asks for sockets by a name, so that a page's bundler never meets
 * Node's modules.
 */
export function bundleForNode(): Plugin {
  const files = new Map(Object.keys(PACKAGES).map((name) => [name, nodePackageFile(name)]));
  const known = new Set(files.values());
  return {
    name: 'weft:bundle-for-node',
    enforce: 'pre',
    resolveId(id, importer) {
      if (id === 'ws' && importer !== undefined && PAGE_SIDE.test(importer)) {
        return { id: SOCKETS, external: true };
      }
      return files.get(id) ?? null;
    },
    async load(id) {
      if (!known.has(id)) return null;
      const bundle = await rolldown({ input: id, platform: 'node', external: OPTIONAL });
      const { output } = await bundle.generate({ format: 'es' });
      await bundle.close();
      return { code: output[0].code, map: null };
    },
  };
}
