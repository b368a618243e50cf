import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Writes the manifest of a package beside `weft-vm`, with its version and addresses, and its license. */
export function writeManifest({ root, out }, fieldsOf) {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const { name, version, license, author, type, engines, repository, homepage, bugs } = manifest;
  const fields = { license, author, type, engines, repository, homepage, bugs };
  const own = { version, ...fieldsOf(name, version), ...fields };
  writeFileSync(join(out, 'package.json'), `${JSON.stringify(own, null, 2)}\n`);
  copyFileSync(join(root, 'LICENSE'), join(out, 'LICENSE'));
}
