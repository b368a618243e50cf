import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Plugin } from 'vite';
import { type BrowserName, openPages } from '../../../scripts/open-pages.ts';
import type { CaseFiles, Outcome } from '../conformance-case.ts';
import type { FoundCase } from '../find-cases.ts';
import type { Engine, EngineFacts, OperatorReport, Sample } from './engine.ts';

const ROUTE = '/conformance-files/';
const IMPLEMENTATIONS = { chromium: 'Dawn', firefox: 'wgpu' } as const;

/** The page's interface to this script. */
export interface ConformancePage {
  weftConformance: {
    run(files: CaseFiles, baseUrl: string): Promise<Outcome[]>;
    describe(): Promise<EngineFacts>;
    runOperators(sample: Sample): Promise<OperatorReport>;
  };
}

declare const weftConformance: ConformancePage['weftConformance'];

/**
 * One headless browser with one page, which runs operators, and in it one worker with one WebGPU device for all cases.
 * A server on loopback gives the page its code and the files of the case at hand.
 */
export async function openBrowserEngine(browserName: BrowserName): Promise<Engine> {
  let current: FoundCase | undefined;
  const pages = await openPages({
    browserName,
    only: ['e2e/pages/conformance.html'],
    plugins: [caseFilesPlugin(() => current)],
  });
  try {
    const page = await pages.open('e2e/pages/conformance.html');
    const name = browserName === 'chromium' ? 'Chromium' : 'Firefox';
    return {
      title: `${name} ${pages.browser.version()} (${IMPLEMENTATIONS[browserName]})`,
      async run(found) {
        current = found;
        const { name: caseName, dataSets } = found;
        return page.evaluate(([files, route]) => weftConformance.run(files, route), [
          { name: caseName, dataSets },
          ROUTE,
        ] as const);
      },
      describe: () => page.evaluate(() => weftConformance.describe()),
      runOperators: (sample) =>
        page.evaluate((given) => weftConformance.runOperators(given), sample),
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
