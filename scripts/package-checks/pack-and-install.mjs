import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Packs what `npm run build` wrote, and installs it in an empty folder far from the repository. */
export function packAndInstall(root) {
  const folder = mkdtempSync(join(tmpdir(), 'weft-package-'));
  const npm = (args, cwd) => execFileSync('npm', args, { cwd, encoding: 'utf8', shell: false });
  const pack = ['pack', root, '--ignore-scripts', '--json', '--loglevel=error'];
  const [{ filename, size, unpackedSize }] = JSON.parse(npm(pack, folder));
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
  npm(['install', `./${filename}`, '--no-audit', '--no-fund', '--loglevel=error'], folder);
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return {
    folder,
    manifest,
    tarball: join(folder, filename),
    installed: join(folder, 'node_modules', manifest.name),
    byteLength: { packed: size, unpacked: unpackedSize },
  };
}
