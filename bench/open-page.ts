import type { Browser, Page } from 'playwright';
import { launchChromium } from '../scripts/launch-chromium.ts';
import type { Lab } from './lab.ts';

/** Work in a page of a context of its own. The browser's GPU process is running already. */
export async function inPage<Result>(
  { browser, server }: Pick<Lab, 'browser' | 'server'>,
  work: (page: Page) => Promise<Result>,
): Promise<Result> {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    page.on('pageerror', (error) => console.error(`  page: ${error.message}`));
    await page.goto(`${server.origin}/page.html`);
    await page.waitForFunction(() => 'bench' in globalThis);
    return await work(page);
  } finally {
    await context.close();
  }
}

const FLAGS = ['--enable-unsafe-webgpu', '--no-sandbox', '--disable-background-networking'];

/** Chromium with WebGPU, on SwiftShader or on graphics hardware. */
export function launchBrowser(
  adapter: 'software' | 'hardware',
  { isHeaded = false } = {},
): Promise<Browser> {
  const own =
    adapter === 'software' ? '--use-webgpu-adapter=swiftshader' : '--enable-features=Vulkan';
  return launchChromium([...FLAGS, own], !isHeaded);
}
