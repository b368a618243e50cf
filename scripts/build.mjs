// Builds the published package into dist/: JavaScript with Vite, and one declaration file per entry. Its source maps
// become a package of their own in dist-packages/.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { buildDeclarations } from './build-declarations.mjs';
import { completeLicenses } from './complete-licenses.mjs';
import { writeCreate } from './packages/write-create.mjs';
import { writeMaps } from './packages/write-maps.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

for (const config of ['library.config.ts', 'static.config.ts']) {
  await build({ root, configFile: join(root, 'scripts', config), logLevel: 'warn' });
}
await buildDeclarations({ root, outDir: join(root, 'dist') });
completeLicenses({ root, file: join(root, 'dist/licenses.md') });
writeMaps({ root, dist: join(root, 'dist'), out: join(root, 'dist-packages/maps') });
writeCreate({ root, out: join(root, 'dist-packages/create-weft') });
console.log('built dist/ and dist-packages/');
