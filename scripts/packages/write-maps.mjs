import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeManifest } from './write-manifest.mjs';

const template = fileURLToPath(new URL('maps', import.meta.url));

/** Sources of other packages, which are published with these. */
export const isOfOtherPackage = (source) => source.includes('node_modules/');

/**
 * Moves the source maps of `dist` into the package `weft-vm-maps` in `out`. They are most of what was
 * built, and nobody but a debugger reads them. Texts of other packages, a megabyte, stay out.
 */
export function writeMaps({ root, dist, out }) {
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
    copyFileSync(join(template, name), join(out, name));
  writeManifest({ root, out }, (name, version) => ({
    name: `${name}-maps`,
    description: `Source maps of ${name} ${version}.`,
    bin: { [`${name}-maps`]: 'install-maps.mjs' },
  }));
}
