import { fileURLToPath } from 'node:url';
import { servePages } from '../../../bench/serve-pages.ts';
import { launchChromium } from '../../../scripts/launch-chromium.ts';
import { webPackages } from '../models.ts';
import { runSolution, type SolutionFrame, type SolutionOrder } from './in-page.ts';

/** MediaPipe's own solutions in a page of Chromium, with WebGL in software. */
export interface MediaPipePeer {
  readonly run: (order: SolutionOrder) => Promise<readonly SolutionFrame[]>;
  close(): Promise<void>;
}

/** Installs the packages if they are missing, and opens a browser; each order has a page of its own. */
export async function openMediaPipe(): Promise<MediaPipePeer> {
  const server = await servePages({
    pages: fileURLToPath(new URL('page', import.meta.url)),
    peers: webPackages(),
    warm: [],
    isIsolated: false,
  });
  const browser = await launchChromium();
  return {
    async run(order) {
      const page = await browser.newPage();
      try {
        await page.goto(`${server.origin}/index.html`);
        return await page.evaluate(runSolution, order);
      } finally {
        await page.close();
      }
    },
    async close() {
      await browser.close();
      server.close();
    },
  };
}
