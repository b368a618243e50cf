import { copyFileSync, cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeManifest } from './write-manifest.mjs';

const template = fileURLToPath(new URL('create-weft', import.meta.url));

/** Writes the package `create-weft` to `out`: its files, the network of digits, and the tools that this repository has. */
export function writeCreate({ root, out }) {
  rmSync(out, { recursive: true, force: true });
  cpSync(template, out, { recursive: true });
  const app = join(out, 'template');
  copyFileSync(join(root, 'public/models/digits.weft'), join(app, 'public/digits/model.weft'));
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const { typescript, vite } = devDependencies;
  const file = join(app, 'package.json');
  const manifest = {
    ...JSON.parse(readFileSync(file, 'utf8')),
    devDependencies: { typescript, vite },
  };
  writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
  writeManifest({ root, out }, (name) => ({
    name: 'create-weft',
    description: `Begins an application with ${name}: npm create weft`,
    bin: { 'create-weft': 'create-weft.mjs' },
  }));
}
