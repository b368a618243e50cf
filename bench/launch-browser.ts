import { type Browser, chromium } from 'playwright';
import { findChromium } from '../scripts/find-chromium.mjs';

const FLAGS = ['--enable-unsafe-webgpu', '--no-sandbox', '--disable-background-networking'];

/** Chromium with WebGPU, on SwiftShader or on graphics hardware. */
export async function launchBrowser(
  adapter: 'software' | 'hardware',
  { isHeaded = false } = {},
): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error('No Chromium is installed; run npm test once.');
  const software = adapter === 'software' ? ['--use-webgpu-adapter=swiftshader'] : [];
  const hardware = adapter === 'hardware' ? ['--enable-features=Vulkan'] : [];
  return chromium.launch({
    executablePath,
    headless: !isHeaded,
    args: [...FLAGS, ...software, ...hardware],
  });
}
