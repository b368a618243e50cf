// Installs a Chromium for tests, unless there is a Chrome or Chromium already.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findChromium } from './find-chromium.mjs';

function run(command, args, root) {
  console.log(`> ${[command, ...args].join(' ')}`);
  return spawnSync(command, args, { cwd: root, stdio: 'inherit' }).status === 0;
}

/** Debian's package, which brings the libraries that a downloaded browser would miss. */
function installWithApt(root) {
  return (
    run('apt-get', ['update'], root) &&
    run('apt-get', ['install', '-y', '--no-install-recommends', 'chromium'], root)
  );
}

function installWithPlaywright(root) {
  const playwright = join(root, 'node_modules/playwright/cli.js');
  return run(process.execPath, [playwright, 'install', 'chromium'], root);
}

/** Returns the path of a browser, or undefined when none could be installed. */
export function installChromium(root) {
  const found = findChromium();
  if (found !== undefined) return found;
  console.log('Installing a Chromium for the tests …');
  const isDebianRoot = existsSync('/etc/debian_version') && process.getuid?.() === 0;
  if (!(isDebianRoot && installWithApt(root)) || findChromium() === undefined) {
    installWithPlaywright(root);
  }
  const installed = findChromium();
  if (installed === undefined) {
    console.error('No Chromium: install one, or set WEFT_CHROMIUM to the path of its executable.');
  }
  return installed;
}
