import { readFile } from 'node:fs/promises';
import type { Plugin } from 'vite';
import { openBrowserRunner } from '../conformance/browser-runner.ts';
import type { BrowserName } from '../open-pages.ts';
import { bundleProgram } from './bundle-program.ts';
import type { Engine, EngineFacts, EngineProgram, OperatorReport } from './engine.ts';

const PROGRAM_PATH = '/engine-program.mjs';
const IMPLEMENTATIONS = { chromium: 'Dawn', firefox: 'wgpu' } as const;

/** A headless browser, whose page runs operators and whose worker runs models. */
export async function openBrowserEngine(browserName: BrowserName): Promise<Engine> {
  const program = await readFile(await bundleProgram('engine-program'));
  const runner = await openBrowserRunner({ browserName, plugins: [programPlugin(program)] });
  const { page, pages } = runner;
  const name = browserName === 'chromium' ? 'Chromium' : 'Firefox';
  return {
    ...runner,
    title: `${name} ${pages.browser.version()} (${IMPLEMENTATIONS[browserName]})`,
    describe: () =>
      page.evaluate(async (path): Promise<EngineFacts> => {
        const program = (await import(/* @vite-ignore */ path)) as EngineProgram;
        return program.describeEngine(navigator.gpu);
      }, PROGRAM_PATH),
    runOperators: (sample) =>
      page.evaluate(
        async ([path, sample]): Promise<OperatorReport> => {
          const program = (await import(/* @vite-ignore */ path)) as EngineProgram;
          return program.runOperators(navigator.gpu, sample);
        },
        [PROGRAM_PATH, sample] as const,
      ),
  };
}

function programPlugin(program: Uint8Array): Plugin {
  return {
    name: 'engine-program',
    configurePreviewServer(server) {
      server.middlewares.use(PROGRAM_PATH, (_, response) => {
        response.setHeader('Content-Type', 'text/javascript');
        response.end(program);
      });
    },
  };
}
