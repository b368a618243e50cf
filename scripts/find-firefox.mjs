// Finds a Firefox that is already on this machine, and the Vulkan driver that gives it a software adapter.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const INSTALLED = [
  '/usr/bin/firefox-esr',
  '/usr/bin/firefox',
  '/opt/firefox/firefox',
  '/Applications/Firefox.app/Contents/MacOS/firefox',
];

const LLVMPIPE = [
  '/usr/share/vulkan/icd.d/lvp_icd.x86_64.json',
  '/usr/share/vulkan/icd.d/lvp_icd.aarch64.json',
  '/usr/share/vulkan/icd.d/lvp_icd.json',
];

/** Path of a browser, or undefined. `WEFT_FIREFOX` comes first. */
export function findFirefox() {
  const wanted = process.env.WEFT_FIREFOX;
  if (wanted !== undefined && existsSync(wanted)) return wanted;
  return INSTALLED.find((path) => existsSync(path));
}

/** Mesa's software driver for Vulkan; undefined where there is none, and on systems without Vulkan. */
export function findLlvmpipe() {
  return LLVMPIPE.find((path) => existsSync(path));
}

/** The requirements that the tests in Firefox lack here, in a line; undefined if they can run. */
export function missingFirefox() {
  if (findFirefox() === undefined) {
    return 'there is no Firefox (install one, or set WEFT_FIREFOX to its path)';
  }
  // On other systems Firefox has WebGPU without it.
  if (process.platform === 'linux' && findLlvmpipe() === undefined) {
    return 'there is no Vulkan driver for Firefox (mesa-vulkan-drivers)';
  }
  return undefined;
}

/** Environment in which wgpu, of Firefox and of Deno, finds that driver, unless one was chosen. */
export function llvmpipeEnvironment() {
  const driver = findLlvmpipe();
  const { VK_ICD_FILENAMES: chosen = '' } = process.env;
  // The driver that with-gpu.mjs chooses for Dawn lacks what wgpu needs.
  const isOurs = chosen === '' || chosen.endsWith('vk_swiftshader_icd.json');
  return {
    ...process.env,
    ...(driver !== undefined && isOurs ? { VK_ICD_FILENAMES: driver } : {}),
    // Without it the driver tells standard error that there is none.
    XDG_RUNTIME_DIR: process.env.XDG_RUNTIME_DIR ?? '/tmp',
  };
}

/** How Playwright launches that Firefox: as it stands, headless, with WebGPU. */
export function firefoxLaunchOptions() {
  return {
    channel: 'moz-firefox',
    executablePath: fileURLToPath(new URL('./firefox-for-playwright.mjs', import.meta.url)),
    env: llvmpipeEnvironment(),
    firefoxUserPrefs: {
      'dom.webgpu.enabled': true,
      'dom.webgpu.workers.enabled': true,
      'gfx.webgpu.force-enabled': true,
      'gfx.webgpu.ignore-blocklist': true,
      // The sandbox keeps the driver from its files.
      'security.sandbox.content.level': 0,
      // Its clock tells milliseconds apart otherwise: a quick run has no length, and its timeline nothing to zoom.
      'privacy.reduceTimerPrecision': false,
      // Requests that a browser sends to its maker at each start.
      'app.normandy.enabled': false,
      'app.update.enabled': false,
      'datareporting.policy.dataSubmissionEnabled': false,
      'services.settings.server': 'data:,#remote-settings-dummy/v1',
      'toolkit.telemetry.enabled': false,
    },
  };
}
