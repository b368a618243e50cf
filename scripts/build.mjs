// Builds the published package into dist/: JavaScript with Vite, and one declaration file per entry. Its source maps
// become a package of their own in dist-maps/.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { buildDeclarations } from './build-declarations.mjs';
import { writeMapsPackage } from './maps-package/write-maps-package.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

for (const config of ['library.config.ts', 'static.config.ts']) {
  await build({ root, configFile: join(root, 'scripts', config), logLevel: 'warn' });
}
await buildDeclarations({ root, outDir: join(root, 'dist') });
writeMapsPackage({ root, dist: join(root, 'dist'), out: join(root, 'dist-maps') });
console.log('built dist/ and dist-maps/');
