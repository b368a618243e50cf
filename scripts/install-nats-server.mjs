// Gets a nats-server for tests, unless there is one already. Debian's package is unpacked, not
// installed: that would start a broker with every boot.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { findNatsServer } from '../src/cli/rpc/testing/find-nats-server.mjs';

function run(command, args, cwd) {
  console.log(`> ${[command, ...args].join(' ')}`);
  return spawnSync(command, args, { cwd, stdio: 'inherit' }).status === 0;
}

/** apt checks the package's signature and hash. */
function unpackDebianPackage(folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const download = () => run('apt-get', ['download', 'nats-server'], folder);
  // Without an index of packages, as in fresh containers, the first attempt fails.
  if (!download() && !(run('apt-get', ['update'], folder) && download())) return;
  const packages = readdirSync(folder).filter((name) => name.endsWith('.deb'));
  for (const name of packages) run('dpkg-deb', ['-x', name, '.'], folder);
}

/** Returns the path of a nats-server, or undefined when there is none to be had. */
export function installNatsServer(root) {
  const found = findNatsServer();
  if (found !== undefined) return found;
  console.log('Getting a nats-server for the tests …');
  if (existsSync('/etc/debian_version')) {
    unpackDebianPackage(join(root, '.weft-cache/nats-server'));
  }
  const unpacked = findNatsServer();
  if (unpacked === undefined) {
    console.error(
      'No nats-server: install one (https://nats.io/download), or set WEFT_NATS_SERVER to its path.',
    );
  }
  return unpacked;
}
