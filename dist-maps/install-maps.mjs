#!/usr/bin/env node
// `npx weft-vm-maps`: puts these source maps beside the files of the weft-vm that is installed for the project in the
// current folder, and says so at the end of each file.
import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const versionOf = (folder) =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version;

function refuse(message) {
  console.error(message);
  process.exit(1);
}

function installedPackage() {
  try {
    const require = createRequire(join(process.cwd(), 'package.json'));
    return dirname(require.resolve('weft-vm/package.json'));
  } catch {
    return refuse(
      `got no weft-vm in ${process.cwd()}, expected it to be installed there: npm install weft-vm`,
    );
  }
}

const folder = installedPackage();
const version = versionOf(here);
if (versionOf(folder) !== version) {
  refuse(
    `got weft-vm ${versionOf(folder)}, expected ${version}: npx weft-vm-maps@${versionOf(folder)}`,
  );
}
const names = readdirSync(join(here, 'dist'), { recursive: true, encoding: 'utf8' });
const maps = names.filter((name) => name.endsWith('.map'));
for (const name of maps) {
  const file = join(folder, 'dist', name.slice(0, -'.map'.length));
  if (!existsSync(file)) refuse(`got no ${file}, expected all of weft-vm: npm install weft-vm`);
  copyFileSync(join(here, 'dist', name), join(folder, 'dist', name));
  const comment = `//# sourceMappingURL=${basename(name)}\n`;
  const code = readFileSync(file, 'utf8');
  if (!code.endsWith(comment)) writeFileSync(file, `${code}\n${comment}`);
}
console.log(`${maps.length} source maps lie beside the files of ${folder}`);
