// Installs what package-lock.json says into node_modules, unless it is there already.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const OLDEST_NODE = [20, 19];

function readPackages(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).packages : undefined;
}

/**
 * Returns true if every package of the lock file is installed in that version; optional ones may be
 * missing.
 */
function isInstalled(root) {
  const wanted = readPackages(join(root, 'package-lock.json'));
  const present = readPackages(join(root, 'node_modules/.package-lock.json'));
  if (wanted === undefined || present === undefined) return false;
  return Object.entries(wanted).every(
    ([path, { version, optional, devOptional }]) =>
      path === '' ||
      (present[path] === undefined
        ? optional === true || devOptional === true
        : present[path].version === version && existsSync(join(root, path))),
  );
}

/** Returns whether dependencies are in place. */
export function installDependencies(root) {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1])) {
    console.error(`Node ${process.versions.node} is too old; Weft needs ${OLDEST_NODE.join('.')}.`);
    return false;
  }
  if (isInstalled(root)) return true;
  console.log('Installing dependencies (npm ci) …');
  const npm = process.env.npm_execpath;
  const { status } =
    npm === undefined
      ? spawnSync('npm', ['ci'], { cwd: root, stdio: 'inherit', shell: true })
      : spawnSync(process.execPath, [npm, 'ci'], { cwd: root, stdio: 'inherit' });
  if (status !== 0) console.error('npm ci failed; see above.');
  return status === 0;
}
