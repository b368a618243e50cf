import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { DeviceError, UsageError } from '../../core/errors.ts';

/** The machine that is looked at. Tests give their own. */
export interface BrowserPlaces {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly exists: (path: string) => boolean;
  /** Names in a folder; none where there is no such folder. */
  readonly list: (folder: string) => readonly string[];
}

const HERE: BrowserPlaces = {
  platform: process.platform,
  env: process.env,
  home: homedir(),
  exists: existsSync,
  list: (folder) => (existsSync(folder) ? readdirSync(folder) : []),
};

/** Names of browsers with Chromium's command line. */
const NAMES = [
  'google-chrome',
  'google-chrome-stable',
  'chromium',
  'chromium-browser',
  'microsoft-edge',
  'brave-browser',
];

const APPLICATIONS = ['Google Chrome', 'Chromium', 'Microsoft Edge', 'Brave Browser'];
const WINDOWS_PATHS = [
  String.raw`Google\Chrome\Application\chrome.exe`,
  String.raw`Chromium\Application\chrome.exe`,
  String.raw`Microsoft\Edge\Application\msedge.exe`,
];
const WINDOWS_FOLDERS = ['ProgramFiles', 'ProgramFiles(x86)', 'LOCALAPPDATA'];

/**
 * The path of a browser: the one that the variable WEFT_BROWSER names, one that is installed, or one that Playwright
 * downloaded. Throws UsageError where the variable names none, DeviceError that says what was looked for.
 */
export function findBrowser(places: BrowserPlaces = HERE): string {
  const wanted = places.env['WEFT_BROWSER'] ?? '';
  if (wanted !== '') {
    if (places.exists(wanted)) return wanted;
    throw new UsageError({
      where: 'WEFT_BROWSER',
      got: `${wanted}, which is not there`,
      expected: 'the path of a Chrome, Chromium or Edge',
    });
  }
  const candidates = [...installed(places), ...downloaded(places)];
  const found = candidates.find((path) => places.exists(path));
  if (found !== undefined) return found;
  const lookedFor =
    places.platform === 'linux'
      ? `${NAMES.join(', ')} in PATH`
      : 'Chrome, Chromium and Edge where they are installed';
  throw new DeviceError({
    where: 'the device browser',
    got: `no browser: looked for ${lookedFor}, and for Playwright's in ${cacheOf(places)}`,
    expected: 'a Chrome, Chromium or Edge',
    remedy:
      'Install one, run `npx playwright install chromium`, or name one in the variable WEFT_BROWSER.',
  });
}

function installed({ platform, env, home }: BrowserPlaces): string[] {
  if (platform === 'darwin') {
    const roots = ['/Applications', join(home, 'Applications')];
    return roots.flatMap((root) =>
      APPLICATIONS.map((name) => join(root, `${name}.app`, 'Contents/MacOS', name)),
    );
  }
  if (platform === 'win32') {
    const roots = WINDOWS_FOLDERS.flatMap((name) => env[name] ?? []);
    return roots.flatMap((root) => WINDOWS_PATHS.map((path) => `${root}\\${path}`));
  }
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
}

function cacheOf({ platform, env, home }: BrowserPlaces): string {
  const own = env['PLAYWRIGHT_BROWSERS_PATH'] ?? '';
  if (own !== '') return own;
  if (platform === 'darwin') return join(home, 'Library/Caches/ms-playwright');
  if (platform === 'win32') return join(env['LOCALAPPDATA'] ?? home, 'ms-playwright');
  return join(home, '.cache/ms-playwright');
}

/** Paths of the browser inside Playwright's folder of Chromium, by platform. */
const INSIDE = [
  'chrome-linux64/chrome',
  'chrome-linux/chrome',
  'chrome-mac/Chromium.app/Contents/MacOS/Chromium',
  'chrome-mac-arm64/Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing',
  'chrome-win64/chrome.exe',
  'chrome-win/chrome.exe',
];

/** Paths where Playwright's downloads may be, the newest first. */
function downloaded(places: BrowserPlaces): string[] {
  const cache = cacheOf(places);
  const number = (name: string): number => Number(/\d+$/.exec(name)?.[0]);
  const folders = places
    .list(cache)
    .filter((name) => /^chromium-\d+$/.test(name))
    .toSorted((a, b) => number(b) - number(a));
  return folders.flatMap((folder) => INSIDE.map((path) => join(cache, folder, path)));
}
