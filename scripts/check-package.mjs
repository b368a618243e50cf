// Uses the built package as strangers would, from its tarball in an empty folder: what an install
// brings, entries and the command in Node, declarations under several compilers, what the checkers
// of packages say, and source maps. Needs `npm run build` before.
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { installDependencies } from './install-dependencies.mjs';
import { checkDeclarations } from './package-checks/check-declarations.mjs';
import { checkInstalled } from './package-checks/check-installed.mjs';
import { checkSourceMaps } from './package-checks/check-source-maps.mjs';
import { checkTarball } from './package-checks/check-tarball.mjs';
import { packAndInstall } from './package-checks/pack-and-install.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const tools = fileURLToPath(new URL('package-checks', import.meta.url));

if (!installDependencies(tools)) process.exit(1);
const packed = packAndInstall(root);
const complaints = [];
try {
  for (const check of [checkInstalled, checkTarball, checkSourceMaps, checkDeclarations]) {
    complaints.push(...(await check({ ...packed, tools })));
  }
} finally {
  rmSync(packed.folder, { recursive: true, force: true });
}
for (const complaint of complaints) console.error(complaint);
console.log(`package: ${complaints.length} complaints`);
process.exitCode = complaints.length > 0 ? 1 : 0;
