// Builds the published package into dist/: JavaScript with Vite, declarations with TypeScript.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const root = fileURLToPath(new URL('..', import.meta.url));

await build({ root, configFile: join(root, 'scripts/library.config.ts'), logLevel: 'warn' });

const typescript = join(root, 'node_modules/typescript/bin/tsc');
const { status } = spawnSync(process.execPath, [typescript, '-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
});
if (status !== 0) process.exit(1);

// TypeScript leaves `.ts` in the imports of declarations; consumers look for `.js` and find `.d.ts`.
const types = join(root, 'dist/types');
for (const name of readdirSync(types, { recursive: true })) {
  if (!name.endsWith('.d.ts')) continue;
  const file = join(types, name);
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace(/((?:from|import)\s*\(?\s*['"]\.[^'"]*)\.ts(?=['"])/g, '$1.js'));
}
console.log('built dist/');
