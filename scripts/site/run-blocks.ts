import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import type { Browser } from 'playwright';
import { transformWithOxc } from 'vite';
import { serveFolder } from '../../e2e/consumers/serve-folder.ts';
import type { DocumentBlock } from '../documentation/marked-blocks.mjs';
import { type RunResult, runNode as runInNode } from '../package-checks/run.mjs';

/** Where blocks run: a folder in which the tarball is installed, and the repository for its models. */
interface BlockPlace {
  readonly root: string;
  readonly folder: string;
  readonly browser: Browser;
}

interface BlockModule {
  readonly block: DocumentBlock;
  /** Relative to the folder, without extension. */
  readonly name: string;
}

const OUTPUT_MS = 60_000;
const POLL_MS = 100;

/** Packages that strangers install beside the tarball: WebGPU for Node, and its types. */
const BESIDE = ['webgpu', '@webgpu/types', '@types/node'];

/** Runs programs of the documentation against the installed package; a complaint for each that fails. */
export async function runBlocks(
  blocks: readonly DocumentBlock[],
  place: BlockPlace,
): Promise<readonly string[]> {
  const { root, folder } = place;
  mkdirSync(join(folder, 'blocks'));
  for (const name of BESIDE) {
    mkdirSync(dirname(join(folder, 'node_modules', name)), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  }
  // Files that pages of the documentation expect beside them.
  symlinkSync(join(folder, 'node_modules/weft-vm'), join(folder, 'weft-vm'));
  symlinkSync(join(root, 'models/digits/model.onnx'), join(folder, 'model.onnx'));
  writeFileSync(join(folder, 'labels.txt'), '0123456789'.split('').join('\n'));
  const modules = blocks
    .filter(({ language, check }) => language === 'ts' && check !== 'fragment')
    .map((block, index) => ({ block, name: `blocks/block-${index + 1}` }));
  const pages = blocks.filter(({ language, check }) => language === 'html' && check === 'run');
  const runs = modules.filter(({ block }) => block.check === 'run');
  return [
    ...(await checkTypes(modules, place)),
    ...(await inTurns(runs, (module) => runModule(module, place))),
    ...(await runPages(pages, place)),
  ];
}

/** As many at a time as there are cores. */
async function inTurns<T>(
  items: readonly T[],
  runOne: (item: T) => Promise<string | undefined>,
): Promise<string[]> {
  const pending = [...items];
  const complaints: string[] = [];
  const work = async (): Promise<void> => {
    for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
      const complaint = await runOne(next);
      if (complaint !== undefined) complaints.push(complaint);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return complaints;
}

async function checkTypes(
  modules: readonly BlockModule[],
  { root, folder }: BlockPlace,
): Promise<readonly string[]> {
  for (const { block, name } of modules) {
    // A module even without imports, so that names of one block do not meet those of another.
    writeFileSync(join(folder, `${name}.ts`), `${block.lines.join('\n')}\nexport {};\n`);
  }
  const compilerOptions = {
    target: 'ES2022',
    module: 'ESNext',
    moduleResolution: 'bundler',
    lib: ['ES2023', 'ESNext.Disposable', 'DOM', 'DOM.Iterable'],
    types: ['@webgpu/types', 'node'],
    strict: true,
    // Types of WebGPU meet those of the compiler's own library.
    skipLibCheck: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
  };
  const project = join(folder, 'tsconfig.json');
  writeFileSync(project, JSON.stringify({ compilerOptions, include: ['blocks/*.ts'] }));
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const { isGood, output } = await runNode([compiler, '-p', project], folder);
  if (isGood) return [];
  const places = modules.map(({ block, name }) => `${name}.ts is ${block.place}`);
  return [`types of examples:\n${output}\n${places.join('\n')}`];
}

/** Gives Node the `navigator.gpu` that the package `webgpu` has. */
const WITH_GPU = `import { create, globals } from 'webgpu';
Object.assign(globalThis, globals);
Object.defineProperty(globalThis, 'navigator', { value: { gpu: create([]) }, configurable: true });
`;

async function runModule(
  { block, name }: BlockModule,
  { root, folder }: BlockPlace,
): Promise<string | undefined> {
  const { code } = await transformWithOxc(block.lines.join('\n'), `${name}.ts`, { lang: 'ts' });
  writeFileSync(join(folder, 'with-gpu.mjs'), WITH_GPU);
  writeFileSync(join(folder, `${name}.mjs`), code);
  const args = ['--import', join(folder, 'with-gpu.mjs'), join(folder, `${name}.mjs`)];
  const { isGood, output } = await runNode(args, root);
  return isGood ? undefined : `${block.place} failed:\n${block.lines.join('\n')}\n${output}`;
}

const runNode = (args: readonly string[], cwd: string): Promise<RunResult> =>
  runInNode(args, { cwd });

/** An <output> that ends with an ellipsis still waits. */
const isReady = (text: string): boolean => text !== '' && !text.endsWith('…');

/** Opens pages on a server that has the package, and waits until each shows a result in its <output>. */
async function runPages(
  blocks: readonly DocumentBlock[],
  { folder, browser }: BlockPlace,
): Promise<readonly string[]> {
  const server = await serveFolder(folder, () => ({}));
  const complaints: string[] = [];
  for (const [index, { place, lines }] of blocks.entries()) {
    const name = `page-${index + 1}.html`;
    // Browsers ask for an icon, and complain where there is none.
    const icon = '<link rel="icon" href="data:,">';
    writeFileSync(join(folder, name), `${lines.join('\n')}\n${icon}\n`);
    const page = await browser.newPage();
    const said: string[] = [];
    page.on('pageerror', ({ message }) => said.push(message));
    page.on('console', (message) => {
      // A model may have a config.json beside it, or none.
      const isMissing = message.text().startsWith('Failed to load resource');
      if (message.type() === 'error' && !isMissing) said.push(message.text());
    });
    await page.goto(`${server.origin}/${name}`);
    const until = Date.now() + OUTPUT_MS;
    let shown = '';
    while (!isReady(shown) && said.length === 0 && Date.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      shown = (await page.locator('output').allTextContents()).join('').trim();
    }
    if (said.length > 0) complaints.push(`${place}: the page says ${said.join('; ')}`);
    else if (!isReady(shown)) complaints.push(`${place}: the page's <output> says "${shown}"`);
    await page.close();
  }
  await server.close();
  return complaints;
}
