// Installs a Firefox and Mesa's software driver for the tests in a second engine, unless they are there.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { findFirefox, findLlvmpipe, missingFirefox } from './find-firefox.mjs';

function run(command, args, root) {
  console.log(`> ${[command, ...args].join(' ')}`);
  return spawnSync(command, args, { cwd: root, stdio: 'inherit' }).status === 0;
}

/** Returns the path of a browser, or undefined when none could be installed. */
export function installFirefox(root) {
  if (missingFirefox() === undefined) return findFirefox();
  // Other systems have their own ways; the stages that need it say what is missing.
  if (!existsSync('/etc/debian_version') || process.getuid?.() !== 0) return findFirefox();
  console.log('Installing a Firefox for the tests …');
  const packages = [
    ...(findFirefox() === undefined ? ['firefox-esr'] : []),
    ...(findLlvmpipe() === undefined ? ['mesa-vulkan-drivers'] : []),
  ];
  const install = ['install', '-y', '--no-install-recommends', ...packages];
  if (run('apt-get', ['update'], root)) run('apt-get', install, root);
  return findFirefox();
}
