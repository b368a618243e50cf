import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Runs npm in a folder. Throws where it fails. */
export const npm = (args, cwd) =>
  execFileSync('npm', [...args, '--loglevel=error'], { cwd, encoding: 'utf8', shell: false });

/** Packs the package of a folder into another one: the tarball, and its bytes packed and unpacked. */
export function pack(root, folder) {
  const [{ filename, size, unpackedSize }] = JSON.parse(
    npm(['pack', root, '--ignore-scripts', '--json'], folder),
  );
  return {
    tarball: join(folder, filename),
    byteLength: { packed: size, unpacked: unpackedSize },
  };
}

/** Packs what `npm run build` wrote, and installs it in an empty folder far from the repository. */
export function packAndInstall(root) {
  const folder = mkdtempSync(join(tmpdir(), 'weft-package-'));
  const packed = pack(root, folder);
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
  npm(['install', packed.tarball, '--no-audit', '--no-fund'], folder);
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const installed = join(folder, 'node_modules', manifest.name);
  return { root, folder, manifest, installed, ...packed };
}
