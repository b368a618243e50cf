#!/usr/bin/env node
// `npm create weft FOLDER`: writes an application whose page names the digit in a picture. It fetches nothing.
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const USAGE = `npm create weft FOLDER                                    a page with Vite and TypeScript
npm create weft FOLDER -- --weft ./weft-vm-0.1.0.tgz      with that package of weft-vm`;

const here = fileURLToPath(new URL('.', import.meta.url));
const readJson = (file) => JSON.parse(readFileSync(file, 'utf8'));

/** Ends the command. */
function refuse(message) {
  console.error(`${message}\n\n${USAGE}`);
  return process.exit(1);
}

function readArguments() {
  try {
    const options = { weft: { type: 'string' }, help: { type: 'boolean' } };
    const { positionals, values } = parseArgs({ allowPositionals: true, options });
    if (values.help) {
      console.log(USAGE);
      return process.exit(0);
    }
    const [folder, ...others] = positionals;
    if (folder === undefined || others.length > 0) {
      return refuse(`got ${positionals.length} folders, expected one`);
    }
    return { folder: resolve(folder), weft: values.weft };
  } catch (error) {
    return refuse(error.message);
  }
}

/** What package.json says of weft-vm: the version of this package, or a packed file. */
function dependencyOf(weft) {
  if (weft === undefined) return `^${readJson(join(here, 'package.json')).version}`;
  const file = resolve(weft);
  if (!existsSync(file))
    refuse(`got --weft ${weft}, expected a packed weft-vm: there is no ${file}`);
  return `file:${file}`;
}

const { folder, weft } = readArguments();
const dependency = dependencyOf(weft);
if (existsSync(folder) && readdirSync(folder).some((name) => name !== '.git')) {
  refuse(`got ${folder}, which has files in it, expected a folder that is new or empty`);
}
cpSync(join(here, 'template'), folder, { recursive: true });
// npm packs no file of that name.
renameSync(join(folder, '_gitignore'), join(folder, '.gitignore'));
const manifest = readJson(join(folder, 'package.json'));
manifest.name =
  basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z\d._~-]+/g, '-')
    .replace(/^[._]+/, '') || 'app';
manifest.dependencies = { 'weft-vm': dependency };
writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
console.log(`${folder} is there. Next:

  cd ${relative('.', folder) || '.'}
  npm install
  npm run dev`);
