// Finds WebKitGTK's driver, and the X server without a screen that its browser draws on; installs them on Debian.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const DRIVER = '/usr/bin/WebKitWebDriver';
const SCREEN = '/usr/bin/xvfb-run';

/** What the tests in WebKit lack here, in a line; undefined if they can run. */
export function missingWebkit() {
  if (!existsSync(DRIVER)) return `there is no WebKitGTK (webkit2gtk-driver gives ${DRIVER})`;
  return existsSync(SCREEN) ? undefined : `there is no screen for WebKit (xvfb gives ${SCREEN})`;
}

/** The command that starts the driver on a port of loopback. */
export const webkitCommand = (port) => [
  SCREEN,
  ['--auto-servernum', DRIVER, '--host=127.0.0.1', `--port=${port}`],
];

export function installWebkit(root) {
  if (missingWebkit() === undefined) return;
  // Other systems have their own ways; the stages that need it say what is missing.
  if (!existsSync('/etc/debian_version') || process.getuid?.() !== 0) return;
  console.log('Installing a WebKit for the tests …');
  const install = [
    'install',
    '-y',
    '--no-install-recommends',
    'webkit2gtk-driver',
    'xvfb',
    'xauth',
  ];
  for (const args of [['update'], install]) {
    console.log(`> apt-get ${args.join(' ')}`);
    if (spawnSync('apt-get', args, { cwd: root, stdio: 'inherit' }).status !== 0) return;
  }
}
