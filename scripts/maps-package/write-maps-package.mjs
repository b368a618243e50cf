import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));

/** Sources of other packages, which are published with these. */
export const isOfOtherPackage = (source) => source.includes('node_modules/');

/**
 * Moves the source maps of `dist` into the package `weft-vm-maps` in the folder `out`. They are most of what was
 * built, and nobody but a debugger reads them. Texts of other packages, a megabyte, stay out.
 */
export function writeMapsPackage({ root, dist, out }) {
  rmSync(out, { recursive: true, force: true });
  const names = readdirSync(dist, { recursive: true, encoding: 'utf8' });
  for (const name of names.filter((file) => file.endsWith('.map'))) {
    const map = JSON.parse(readFileSync(join(dist, name), 'utf8'));
    map.sourcesContent = map.sourcesContent?.map((text, i) =>
      isOfOtherPackage(map.sources[i]) ? null : text,
    );
    mkdirSync(dirname(join(out, 'dist', name)), { recursive: true });
    writeFileSync(join(out, 'dist', name), JSON.stringify(map));
    rmSync(join(dist, name));
  }
  for (const name of ['README.md', 'install-maps.mjs'])
    copyFileSync(join(here, name), join(out, name));
  copyFileSync(join(root, 'LICENSE'), join(out, 'LICENSE'));
  writeFileSync(join(out, 'package.json'), `${JSON.stringify(manifestOf(root), null, 2)}\n`);
}

function manifestOf(root) {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const { name, version, license, author, type, engines, repository, homepage, bugs } = manifest;
  return {
    name: `${name}-maps`,
    version,
    description: `Source maps of ${name} ${version}.`,
    license,
    author,
    type,
    engines,
    bin: { [`${name}-maps`]: 'install-maps.mjs' },
    repository,
    homepage,
    bugs,
  };
}
