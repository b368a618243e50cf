import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Plugin } from 'vite';
import type { Page } from 'playwright';
import { openPages, type Pages, type PagesOptions } from '../open-pages.ts';
import type { CaseFiles, Outcome } from './conformance-case.ts';
import type { FoundCase } from './find-cases.ts';

const ROUTE = '/conformance-files/';

export interface CaseRunner {
  run(found: FoundCase): Promise<Outcome[]>;
  /** The device that the cases run on, for the report. */
  readonly title: string;
  close(): Promise<void>;
}

/** The page's interface to this script. */
export interface ConformancePage {
  weftConformance: {
    adapterName(): Promise<string>;
    run(files: CaseFiles, baseUrl: string): Promise<Outcome[]>;
  };
}

export interface BrowserRunner extends CaseRunner {
  readonly pages: Pages;
  readonly page: Page;
}

/**
 * One headless browser with one page, and in it one worker with one WebGPU device for all cases.
 * A server on loopback gives the page its code and the files of the case at hand.
 */
export async function openBrowserRunner({
  browserName = 'chromium',
  plugins = [],
}: Omit<PagesOptions, 'only'> = {}): Promise<BrowserRunner> {
  let current: FoundCase | undefined;
  const pages = await openPages({
    browserName,
    only: ['e2e/pages/conformance.html'],
    plugins: [...plugins, caseFilesPlugin(() => current)],
  });
  try {
    const page = await pages.open('e2e/pages/conformance.html');
    const adapter = await page.evaluate(() =>
      (globalThis as unknown as ConformancePage).weftConformance.adapterName(),
    );
    const browser = `${browserName === 'firefox' ? 'Firefox' : 'Chromium'} ${pages.browser.version()}`;
    return {
      pages,
      page,
      title: `WebGPU (${adapter}) in a worker of headless ${browser}`,
      async run(found) {
        current = found;
        const { name, dataSets } = found;
        return page.evaluate(
          ([files, route]) =>
            (globalThis as unknown as ConformancePage).weftConformance.run(files, route),
          [{ name, dataSets }, ROUTE] as const,
        );
      },
      close: () => pages.close(),
    };
  } catch (error) {
    await pages.close();
    throw error;
  }
}

/** Serves the files of one case, which are named by the case and nothing else. */
function caseFilesPlugin(current: () => FoundCase | undefined): Plugin {
  return {
    name: 'conformance-files',
    configurePreviewServer(server) {
      server.middlewares.use(ROUTE, (request, response) => {
        const file = decodeURIComponent(new URL(request.url ?? '/', 'http://x').pathname.slice(1));
        const found = current();
        const known = found !== undefined && [
          'model.onnx',
          ...found.dataSets.flatMap((set) => [...set.inputs, ...set.outputs]),
        ];
        if (known === false || !known.includes(file) || found === undefined) {
          response.statusCode = 404;
          response.end();
          return;
        }
        readFile(join(found.folder, file)).then(
          (bytes) => response.end(bytes),
          (error: unknown) => {
            response.statusCode = 500;
            response.end(String(error));
          },
        );
      });
    },
  };
}
