#!/usr/bin/env node
// `npm create weft FOLDER`: writes an application whose page names the digit in a picture. It fetches nothing.
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const USAGE = `npm create weft FOLDER                                    asks which application
npm create weft FOLDER -- --typescript                    a page with Vite and TypeScript
npm create weft FOLDER -- --react                         a page with Vite, TypeScript and React
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
    const flag = { type: 'boolean' };
    const options = { weft: { type: 'string' }, react: flag, typescript: flag, help: flag };
    const { positionals, values } = parseArgs({ allowPositionals: true, options });
    if (values.help) {
      console.log(USAGE);
      return process.exit(0);
    }
    const [folder, ...others] = positionals;
    if (folder === undefined || others.length > 0) {
      return refuse(`got ${positionals.length} folders, expected one`);
    }
    if (values.react && values.typescript) {
      return refuse('got --react and --typescript, expected one of them');
    }
    const kind = values.react ? 'react' : values.typescript ? 'typescript' : undefined;
    return { folder: resolve(folder), weft: values.weft, kind };
  } catch (error) {
    return refuse(error.message);
  }
}

/** What package.json says of weft-vm: the version of this package, or a packed file, which may be on a site. */
function dependencyOf(weft) {
  if (weft === undefined) return `^${readJson(join(here, 'package.json')).version}`;
  if (/^https?:/.test(weft)) return weft;
  const file = resolve(weft);
  if (!existsSync(file))
    refuse(`got --weft ${weft}, expected a packed weft-vm: there is no ${file}`);
  return `file:${file}`;
}

/** The application that is wanted: without anybody to answer that without React. */
async function askKind() {
  if (!process.stdin.isTTY) return 'typescript';
  const asking = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await asking.question('With React? (y/N) ');
  asking.close();
  return /^y/i.test(answer.trim()) ? 'react' : 'typescript';
}

const { folder, weft, ...wanted } = readArguments();
const dependency = dependencyOf(weft);
if (existsSync(folder) && readdirSync(folder).some((name) => name !== '.git')) {
  refuse(`got ${folder}, which has files in it, expected a folder that is new or empty`);
}
const kind = wanted.kind ?? (await askKind());
for (const part of ['template', kind]) cpSync(join(here, part), folder, { recursive: true });
// npm packs no file of that name.
renameSync(join(folder, '_gitignore'), join(folder, '.gitignore'));
// That of the kind lies over the other one.
const manifest = readJson(join(here, 'template/package.json'));
const { dependencies, devDependencies } = readJson(join(folder, 'package.json'));
manifest.name =
  basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z\d._~-]+/g, '-')
    .replace(/^[._]+/, '') || 'app';
manifest.dependencies = { ...dependencies, 'weft-vm': dependency };
manifest.devDependencies = { ...devDependencies, ...manifest.devDependencies };
writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
console.log(`${folder} is there. Next:

  cd ${relative('.', folder) || '.'}
  npm install
  npm run dev`);
