import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformWithOxc } from 'vite';
import { blocksOf } from '../../../scripts/documentation/marked-blocks.mjs';
import type { Consumer } from '../consumer.ts';
import { type Lab, outcomeIn } from '../lab.ts';
import { makeFolders } from '../make-models.ts';
import { checkOutcome } from '../outcome.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** The block of a guide that has a text, as it stands there, with the model of the colours. */
function block(page: string, text: string): string {
  const found = blocksOf(ROOT, `docs/${page}.md`).filter(({ lines }) =>
    lines.join('\n').includes(text),
  );
  const [only] = found;
  if (only === undefined || found.length > 1) {
    throw new Error(`docs/${page}.md: got ${found.length} blocks with ${text}, expected one`);
  }
  return only.lines.join('\n').replace('/models/mobilenet/', '/models/colours/');
}

const ICON = '<link rel="icon" href="data:,">';
const page = (script: string, body = '<div id="root"></div>'): string =>
  `<!doctype html>${ICON}${body}<script type="module" src="${script}"></script>`;

/** A model for the hooks, which counts what becomes of it. */
const LOAD = `import { Session, Tensor } from 'weft-vm';

export const counts = { begun: 0, loaded: 0, disposed: 0, pages: 0 };
counts.pages = Number(sessionStorage.getItem('pages') ?? 0) + 1;
sessionStorage.setItem('pages', counts.pages);

export async function load(signal) {
  counts.begun++;
  const session = await Session.load('/models/dense.weft', { device: 'wasm', signal });
  counts.loaded++;
  return {
    async run() {
      const { y } = await session.run({ x: new Tensor('float32', Float32Array.of(1, -2, 3, 0.5), [1, 4]) });
      return { values: y.toNested(), device: session.device.kind };
    },
    dispose() {
      counts.disposed++;
      return session.dispose();
    },
  };
}

export function finish(result) {
  globalThis.outcome = { results: { 'dense.weft': result }, counts };
}
`;

/** Throws unless one model is left of \`begun\` loads, in a page that was loaded once. */
function checkCounts(lab: Awaited<ReturnType<Lab['open']>>, begun: number, left: number): string {
  const { counts } = lab;
  if (counts === undefined) throw new Error('got no counts');
  const isGood =
    counts.begun === begun && counts.loaded - counts.disposed === left && counts.pages === 1;
  const text = `${counts.begun} loads begun, ${counts.loaded} done, ${counts.disposed} disposed of`;
  if (!isGood) {
    throw new Error(
      `${text}, ${counts.pages} pages; expected ${begun} begun, ${left} left, 1 page`,
    );
  }
  return `${checkOutcome(lab, ['dense.weft'])}; ${text}`;
}

async function development(lab: Lab, app: string) {
  const bin = lab.installed('vite-8/bin/vite.js');
  const args = [bin, '--port', '0', '--host', '127.0.0.1'];
  return lab.open(await lab.server(process.execPath, args, app));
}

/** A page that asks `/edit` has its component changed, with a hook more, for which React mounts it anew. */
const REACT_CONFIG = `import react from '@vitejs/plugin-react';
import { readFileSync, writeFileSync } from 'node:fs';

const edit = (request, response) => {
  const text = readFileSync('src/App.jsx', 'utf8');
  writeFileSync('src/App.jsx', text.replace("version = 'first'", "version = 'second'").replace('// more', 'useState(0);'));
  response.end();
};
export default {
  plugins: [react(), { name: 'edit', configureServer: ({ middlewares }) => void middlewares.use('/edit', edit) }],
};
`;
const REACT_APP = `import { useEffect, useState } from 'react';
import { finish, load } from './load.js';
import { useModel } from './use-model.js';

const version = 'first';
export function App() {
  const { model, error } = useModel(load);
  // more
  useEffect(() => {
    if (error) globalThis.outcome = { error: { name: error.name, message: error.message } };
    if (model) model.run().then((result) => (version === 'second' ? finish(result) : fetch('/edit')));
  }, [model, error]);
  return <p>{version}</p>;
}
`;
const REACT_MAIN = `import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './App.jsx';

createRoot(document.querySelector('#root')).render(<StrictMode><App /></StrictMode>);
`;

const VUE_MAIN = `import { createApp, h, watch } from 'vue';
import { finish, load } from './load.js';
import { useModel } from './use-model.js';

const app = createApp({
  setup() {
    const { model } = useModel(load);
    watch(model, async (loaded) => {
      const result = await loaded.run();
      app.unmount();
      setTimeout(() => finish(result));
    });
    return () => h('p', 'Weft');
  },
});
app.mount('#root');
`;

const SVELTE_CONFIG = `import { svelte } from '@sveltejs/vite-plugin-svelte';
export default { plugins: [svelte()] };
`;
const SVELTE_APP = `<script>
  import { load } from './load.js';
  import Model from './Model.svelte';
  let { found } = $props();
</script>
<Model {load}>{#snippet children(model)}<p {@attach () => void model.run().then(found)}></p>{/snippet}</Model>
`;
const SVELTE_MAIN = `import { mount, unmount } from 'svelte';
import App from './App.svelte';
import { finish } from './load.js';

const props = { async found(result) { await unmount(app); setTimeout(() => finish(result)); } };
const app = mount(App, { target: document.querySelector('#root'), props });
`;

/** The frames of a canvas in place of a camera; the worker's answer becomes the title. */
const BLUE_VIDEO = `const canvas = document.createElement('canvas');
const context = canvas.getContext('2d');
context.fillStyle = 'blue';
setInterval(() => context.fillRect(0, 0, canvas.width, canvas.height), 30);
const video = document.querySelector('video');
video.srcObject = canvas.captureStream();
await video.play();
await import('./page.ts');
new MutationObserver(() => { globalThis.outcome = { label: document.title }; }).observe(document.head, { subtree: true, childList: true, characterData: true });
`;

/** The page of the guide, then what it says of a blue picture. */
const OFFLINE_END = `
const canvas = new OffscreenCanvas(8, 8);
const context = canvas.getContext('2d');
if (context === null) throw new Error('no canvas');
context.fillStyle = 'blue';
context.fillRect(0, 0, 8, 8);
const [best] = await classifier.classify(canvas);
Object.assign(globalThis, { outcome: { label: best?.label } });
`;

function checkLabel({ label }: Awaited<ReturnType<Lab['open']>>, expected = 'blue'): string {
  if (label !== expected) throw new Error(`got ${label}, expected ${expected}`);
  return label;
}

/** A vertical stroke. */
const STROKE = `const data = new Uint8Array(28 * 28);
for (let y = 5; y < 23; y++) data.fill(255, y * 28 + 13, y * 28 + 16);
const stroke = { width: 28, height: 28, data };`;

/** The package of the guide, which knows digits and is greeted by a 1, in the node_modules of an application that is built. */
async function library(lab: Lab): Promise<string> {
  const text = block('libraries', 'greetingDetector')
    .replace("['none', 'wave']", "[...'0123456789']")
    .replaceAll("'wave'", "'1'");
  const { code } = await transformWithOxc(text, 'greeting.ts');
  const manifest = { name: 'greeting', version: '1.0.0', type: 'module', exports: './index.js' };
  const app = lab.makeApp('library', {
    'index.html': page('/page.js'),
    'page.js': `import { greetingDetector } from 'greeting';
${STROKE}
const { isGreeting } = await greetingDetector();
globalThis.outcome = { label: (await isGreeting(stroke)) ? 'greeted' : 'not greeted' };`,
    'node_modules/greeting/package.json': JSON.stringify(manifest),
    'node_modules/greeting/index.js': code,
  });
  const model = join(ROOT, 'public/models/digits.weft');
  copyFileSync(model, join(app, 'node_modules/greeting/greeting.weft'));
  await lab.tool(process.execPath, [lab.installed('vite-8/bin/vite.js'), 'build'], app);
  const { origin } = await lab.serve(join(app, 'dist'));
  return checkLabel(await lab.open(`${origin}/`), 'greeted');
}

async function offline(lab: Lab): Promise<string> {
  const worker = await transformWithOxc(block('offline', 'answer(request)'), 'worker.ts');
  const app = lab.makeApp('offline', {
    'index.html': page('/page.ts'),
    'page.ts': block('offline', "register('/service-worker.js')") + OFFLINE_END,
    'public/service-worker.js': worker.code,
  });
  lab.addModels(join(app, 'public'), makeFolders());
  await lab.tool(process.execPath, [lab.installed('vite-8/bin/vite.js'), 'build'], app);
  const server = await lab.serve(join(app, 'dist'), () => ({ etag: '"1"' }));
  const context = await lab.context();
  // The service worker has the page from its second visit on.
  for (let visit = 0; visit < 2; visit++) checkLabel(await outcomeIn(context, server.origin));
  await server.close();
  return `${checkLabel(await outcomeIn(context, server.origin))} without a server`;
}

/** Programs of the guides, as they stand there, in apps of Vite. */
export const GUIDES: readonly Consumer[] = [
  {
    name: 'React, StrictMode and hot reload',
    isHeavy: true,
    run: async (lab) => {
      const app = lab.makeApp('react', {
        'index.html': page('/src/main.jsx'),
        'vite.config.js': REACT_CONFIG,
        'src/load.js': LOAD,
        'src/use-model.js': block('frameworks', "from 'react'"),
        'src/App.jsx': REACT_APP,
        'src/main.jsx': REACT_MAIN,
      });
      return checkCounts(await development(lab, app), 4, 1);
    },
  },
  {
    name: 'Vue',
    isHeavy: true,
    run: async (lab) => {
      const app = lab.makeApp('vue', {
        'index.html': page('/src/main.js'),
        'src/load.js': LOAD,
        'src/use-model.js': block('frameworks', "from 'vue'"),
        'src/main.js': VUE_MAIN,
      });
      return checkCounts(await development(lab, app), 1, 0);
    },
  },
  {
    name: 'Svelte',
    isHeavy: true,
    run: async (lab) => {
      const app = lab.makeApp('svelte', {
        'index.html': page('/src/main.js'),
        'vite.config.js': SVELTE_CONFIG,
        'src/load.js': LOAD,
        'src/Model.svelte': block('frameworks', "from 'svelte'"),
        'src/App.svelte': SVELTE_APP,
        'src/main.js': SVELTE_MAIN,
      });
      return checkCounts(await development(lab, app), 1, 0);
    },
  },
  {
    name: 'live video in a worker',
    isHeavy: true,
    run: async (lab) => {
      const app = lab.makeApp('live-video', {
        'index.html': page('/video.js', '<video muted playsinline></video>'),
        'video.js': BLUE_VIDEO,
        'page.ts': block('live-video', 'new VideoFrame(video)'),
        'frames.ts': block('live-video', '// frames.ts'),
      });
      lab.addModels(join(app, 'public'), makeFolders());
      return checkLabel(await development(lab, app));
    },
  },
  { name: 'offline', isHeavy: true, run: offline },
  { name: 'library with a model', isHeavy: true, run: library },
];
