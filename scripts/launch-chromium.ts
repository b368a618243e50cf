import { type Browser, chromium } from 'playwright';
import { findChromium } from './find-chromium.mjs';

/**
 * WebGPU on SwiftShader: without the first flag there is no adapter in headless Chromium. Without the last one Chromium loads two
 * pages of its own, of 200 files each, beside each page that it opens.
 */
const FLAGS = [
  '--enable-unsafe-webgpu',
  '--use-webgpu-adapter=swiftshader',
  '--no-sandbox',
  '--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup',
];

/** The Chromium that is found, or else Playwright's own. Default flags: those of WebGPU in software. */
export function launchChromium(args: readonly string[] = FLAGS, headless = true): Promise<Browser> {
  const executablePath = findChromium();
  return chromium.launch({
    headless,
    args: [...args],
    ...(executablePath === undefined ? {} : { executablePath }),
  });
}
