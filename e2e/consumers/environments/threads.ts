import { join } from 'node:path';
import { chromium } from 'playwright';
import { findChromium } from '../../../scripts/find-chromium.mjs';
import type { Consumer } from '../consumer.ts';
import { CHROMIUM_FLAGS, type Lab, outcomeIn } from '../lab.ts';
import { makeFolders } from '../make-models.ts';
import { checkModels, checkOutcome, checkRefusal, checkRefusals } from '../outcome.ts';

const page = (script: string): string => `<!doctype html>
<link rel="icon" href="data:,">
<script type="module">${script}</script>`;

/** A worker of the app's own; an import map does not reach it, so its imports are paths. */
const IN_WORKER = page(`
const worker = new Worker('/in-worker.js', { type: 'module' });
worker.onmessage = ({ data }) => { globalThis.outcome = data; };`);

const inWorker = `import * as weft from '/node_modules/weft-vm/dist/client.js';
import { checkWith } from '/check-with.js';
checkWith(weft, new URL('/models/', location.href)).then((outcome) => postMessage(outcome));
`;

const IN_SERVICE_WORKER = page(`
await navigator.serviceWorker.register('/service-worker.js', { type: 'module' });
const { active } = await navigator.serviceWorker.ready;
const { port1, port2 } = new MessageChannel();
port1.onmessage = ({ data }) => { globalThis.outcome = data; };
active.postMessage('check', [port2]);`);

async function inServiceWorker(
  lab: Lab,
  name: string,
  files: Readonly<Record<string, string>> = {},
) {
  const app = lab.makeApp(name, { 'index.html': IN_SERVICE_WORKER, ...files });
  lab.addModels(app, makeFolders());
  const { origin } = await lab.serve(app);
  return lab.open(`${origin}/`);
}

/** The usual entry there, whose code for this thread comes by \`import()\`. */
const DYNAMIC = `import * as weft from './node_modules/weft-vm/dist/client.js';
import { checkWith } from './check-with.js';
addEventListener('message', ({ ports }) => {
  void checkWith(weft, new URL('./models/', location.href)).then((outcome) => ports[0].postMessage(outcome));
});
`;

/** The usual entries of text and tasks there. */
const DYNAMIC_MODELS = `import * as tasks from './node_modules/weft-vm/dist/tasks.js';
import * as text from './node_modules/weft-vm/dist/text.js';
import { checkRefusals } from './check-models.js';
addEventListener('message', ({ ports }) => {
  const folder = new URL('./models/', location.href);
  void checkRefusals({ ...tasks, ...text }, folder).then((outcome) => ports[0].postMessage(outcome));
});
`;

/** The files of the app with sessions alone, and with text and tasks. */
const SESSIONS = 'service-worker.js';
const MODELS = 'models-worker.js';

/** The policy of an extension that says nothing forbids WebAssembly. */
const WASM = { extension_pages: "script-src 'self' 'wasm-unsafe-eval'" };

const manifest = (script: string) =>
  JSON.stringify({
    manifest_version: 3,
    name: 'Weft in a background',
    version: '1',
    background: { service_worker: script, type: 'module' },
    ...(script === MODELS ? { content_security_policy: WASM } : {}),
  });

/** Its page asks its background. */
const EXTENSION_PAGE = `<!doctype html><script type="module" src="ask.js"></script>`;
const ASK = `const { port1, port2 } = new MessageChannel();
port1.onmessage = ({ data }) => { globalThis.outcome = data; };
const { active } = await navigator.serviceWorker.ready;
active.postMessage('check', [port2]);
`;

async function inExtension(lab: Lab, script: string) {
  const app = lab.makeApp('extension', {
    'manifest.json': manifest(script),
    'page.html': EXTENSION_PAGE,
    'ask.js': ASK,
  });
  lab.addModels(app, makeFolders());
  const executablePath = findChromium();
  const context = await chromium.launchPersistentContext(join(app, '.profile'), {
    ...(executablePath === undefined ? {} : { executablePath }),
    headless: false,
    ignoreDefaultArgs: ['--disable-extensions'],
    args: [
      ...CHROMIUM_FLAGS,
      '--headless=new',
      `--load-extension=${app}`,
      `--disable-extensions-except=${app}`,
      // Branded builds refuse the flag above without it.
      '--disable-features=DisableLoadExtensionCommandLineSwitch',
    ],
  });
  try {
    const [background = await context.waitForEvent('serviceworker', { timeout: 30_000 })] =
      context.serviceWorkers();
    return await outcomeIn(context, new URL('page.html', background.url()).href);
  } finally {
    await context.close();
  }
}

const STATIC_ENTRIES =
  'WorkerError: got a service worker, which allows no import(), expected an entry that has all code at once. Import from weft-vm/static, weft-vm/static/text or weft-vm/static/tasks.';

/** Threads other than a page's. */
export const THREADS: readonly Consumer[] = [
  {
    name: 'inside a worker',
    run: async (lab) => {
      const app = lab.makeApp('in-worker', { 'index.html': IN_WORKER, 'in-worker.js': inWorker });
      const { origin } = await lab.serve(app);
      return checkOutcome(await lab.open(`${origin}/`));
    },
  },
  {
    name: 'module service worker, weft-vm/static',
    run: async (lab) => checkOutcome(await inServiceWorker(lab, 'service-worker')),
  },
  {
    name: 'module service worker, weft-vm: says what to import',
    run: async (lab) =>
      checkRefusal(
        await inServiceWorker(lab, 'service-worker-dynamic', { 'service-worker.js': DYNAMIC }),
        'Import from weft-vm/static',
      ),
  },
  {
    name: 'module service worker, weft-vm/static/text, /tasks',
    run: async (lab) => {
      const page = IN_SERVICE_WORKER.replace(SESSIONS, MODELS);
      return checkModels(await inServiceWorker(lab, 'models-worker', { 'index.html': page }));
    },
  },
  {
    name: 'module service worker, weft-vm/text, /tasks: say it',
    run: async (lab) => {
      const files = { [SESSIONS]: DYNAMIC_MODELS };
      return checkRefusals(await inServiceWorker(lab, 'models-worker-dynamic', files), {
        text: STATIC_ENTRIES,
        files: STATIC_ENTRIES,
        tasks: STATIC_ENTRIES,
        pictures: STATIC_ENTRIES,
      });
    },
  },
  {
    name: 'background of an extension, weft-vm/static',
    run: async (lab) => checkOutcome(await inExtension(lab, SESSIONS)),
  },
  {
    name: 'background of an extension, weft-vm/static/text, …',
    run: async (lab) => checkModels(await inExtension(lab, MODELS)),
  },
];
