// Builds the published package into dist/: JavaScript with Vite, and one declaration file per entry.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { buildDeclarations } from './build-declarations.mjs';
import { trimSourceMaps } from './trim-source-maps.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

for (const config of ['library.config.ts', 'static.config.ts']) {
  await build({ root, configFile: join(root, 'scripts', config), logLevel: 'warn' });
}
await buildDeclarations({ root, outDir: join(root, 'dist') });
trimSourceMaps(join(root, 'dist'));
console.log('built dist/');
