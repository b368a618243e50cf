import { expect, test } from 'vitest';
import { type BrowserPlaces, findBrowser } from './find-browser.ts';

/** A machine that has these files, and these folders of Playwright's. */
const machine = (
  files: readonly string[],
  {
    platform = 'linux',
    env = {},
    folders = [],
  }: Partial<BrowserPlaces> & {
    readonly folders?: readonly string[];
  } = {},
): BrowserPlaces => ({
  platform,
  env,
  home: '/home/me',
  exists: (path) => files.includes(path),
  list: (folder) => (folder === '/home/me/.cache/ms-playwright' ? folders : []),
});

test('the one that the variable names', () => {
  const env = { WEFT_BROWSER: '/opt/own', PATH: '/usr/bin' };
  expect(findBrowser(machine(['/opt/own', '/usr/bin/chromium'], { env }))).toBe('/opt/own');
  expect(() => findBrowser(machine(['/usr/bin/chromium'], { env }))).toThrow(
    'WEFT_BROWSER: got /opt/own, which is not there, expected the path of a Chrome, Chromium or Edge.',
  );
});

test('one in PATH, else the newest of Playwright', () => {
  const env = { PATH: '/bin:/usr/bin' };
  const chrome = '/usr/bin/google-chrome';
  expect(findBrowser(machine(['/bin/chromium', chrome], { env }))).toBe(chrome);
  const folders = ['chromium-99', 'chromium-1200', 'firefox-2000', 'chromium_headless_shell-1300'];
  const inside = (name: string) => `/home/me/.cache/ms-playwright/${name}/chrome-linux64/chrome`;
  const files = folders.map(inside);
  expect(findBrowser(machine(files, { env, folders }))).toBe(inside('chromium-1200'));
});

test('an application of macOS', () => {
  const path = '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge';
  expect(findBrowser(machine([path], { platform: 'darwin' }))).toBe(path);
});

test('none: what was looked for', () => {
  expect(() => findBrowser(machine([], { env: { PATH: '/bin' } }))).toThrow(
    "the device browser: got no browser: looked for google-chrome, google-chrome-stable, chromium, chromium-browser, microsoft-edge, brave-browser in PATH, and for Playwright's in /home/me/.cache/ms-playwright, expected a Chrome, Chromium or Edge.",
  );
});
