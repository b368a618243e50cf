// Finds a Chrome or Chromium that is already on this machine, and the folder of its SwiftShader.
import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

const INSTALLED = [
  '/usr/lib/chromium/chromium',
  '/usr/lib/chromium-browser/chromium-browser',
  '/opt/google/chrome/chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
];

/** Path of a browser that Playwright downloaded, or undefined. */
function downloadedChromium() {
  const cache =
    process.env.PLAYWRIGHT_BROWSERS_PATH ??
    (process.platform === 'darwin'
      ? join(homedir(), 'Library/Caches/ms-playwright')
      : process.platform === 'win32'
        ? join(homedir(), 'AppData/Local/ms-playwright')
        : join(homedir(), '.cache/ms-playwright'));
  if (!existsSync(cache)) return undefined;
  const folders = readdirSync(cache)
    .filter((name) => /^chromium-\d+$/.test(name))
    .sort()
    .reverse();
  const inside = [
    'chrome-linux64/chrome',
    'chrome-linux/chrome',
    'chrome-mac/Chromium.app/Contents/MacOS/Chromium',
    'chrome-mac-arm64/Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing',
    'chrome-win64/chrome.exe',
    'chrome-win/chrome.exe',
  ];
  return folders
    .flatMap((folder) => inside.map((path) => join(cache, folder, path)))
    .find((path) => existsSync(path));
}

/** Path of a browser, or undefined. `WEFT_CHROMIUM` comes first. */
export function findChromium() {
  const wanted = process.env.WEFT_CHROMIUM;
  if (wanted !== undefined && existsSync(wanted)) return wanted;
  return INSTALLED.find((path) => existsSync(path)) ?? downloadedChromium();
}

/** Folder with SwiftShader's Vulkan driver, which Dawn in Node needs; undefined where there is none. */
export function findSwiftShader() {
  const browser = findChromium();
  const folder = browser === undefined ? undefined : dirname(browser);
  return folder !== undefined && existsSync(join(folder, 'vk_swiftshader_icd.json'))
    ? folder
    : undefined;
}
