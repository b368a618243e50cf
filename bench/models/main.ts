import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright';
import { createServer, type ViteDevServer } from 'vite';
import { findChromium } from '../../scripts/find-chromium.mjs';
import { readTensorFile } from '../../src/frontend/onnx/protobuf/read-tensor.ts';
import type { BenchCase, BenchResult } from './page.ts';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '../..');
const models = join(root, '../shared/models');
const peers = join(here, 'node_modules/onnxruntime-web/dist');

const DEFAULT_MODELS = [
  'mnist-cntk',
  'mnist-pytorch-cnn',
  'superres-core',
  'squeezenet-coreml',
  'light-squeezenet',
  'light-resnet50',
];

const CHROMIUM_FLAGS = [
  '--enable-unsafe-webgpu',
  '--use-webgpu-adapter=swiftshader',
  '--no-sandbox',
  '--disable-background-networking',
];

/** Seconds of warm runs that one case may take per runtime, at most. */
const REPEATS = { fewest: 3, most: 15 };

/**
 * Weft against onnxruntime-web's WebGPU in one page, interleaved. Arguments: names of models.
 * Resolves to the exit status: 1 when outputs differ.
 */
export async function main(args: readonly string[]): Promise<number> {
  const names = args.length > 0 ? args : DEFAULT_MODELS;
  if (!existsSync(models)) {
    console.error(`The benchmark needs the models in ${models}, which is not there.`);
    return 1;
  }
  installPeers();
  const server = await serve();
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error('No Chromium is installed; run npm test once.');
  const browser = await chromium.launch({ executablePath, args: CHROMIUM_FLAGS });
  let status = 0;
  try {
    console.log(
      row(['model', 'weft ms', 'peer ms', 'ratio', 'cold weft', 'cold peer', 'difference']),
    );
    for (const name of names) {
      // A page of its own: nothing that one case leaves behind slows the next.
      const page = await browser.newPage();
      page.on('pageerror', (error) => console.error(`${name}: ${error.message}`));
      await page.goto(`${server.resolvedUrls?.local[0]}bench/models/page.html`);
      await page.waitForFunction(() => 'runBenchCase' in globalThis);
      const repeats = name.startsWith('mnist') ? REPEATS.most : REPEATS.fewest;
      const result = await page.evaluate(
        ([bench, count]) => globalThis.runBenchCase(bench, count),
        [benchCase(name), repeats] as const,
      );
      console.log(row(cells(name, result)));
      if (!(result.differenceOverRange < 1e-3)) status = 1;
      await page.close();
    }
  } finally {
    await browser.close();
    await server.close();
  }
  return status;
}

function cells(name: string, { weft, peer, differenceOverRange }: BenchResult): string[] {
  return [
    name,
    weft.medianMs.toFixed(1),
    peer.medianMs.toFixed(1),
    `${(peer.medianMs / weft.medianMs).toFixed(1)}x`,
    weft.coldMs.toFixed(0),
    peer.coldMs.toFixed(0),
    differenceOverRange.toExponential(1),
  ];
}

const WIDTHS = [20, 10, 10, 8, 10, 10, 11];

function row(fields: readonly string[]): string {
  return fields
    .map((field, i) => (i === 0 ? field.padEnd(WIDTHS[i] ?? 0) : field.padStart(WIDTHS[i] ?? 0)))
    .join('  ');
}

/** The first data set of a model; the test data of the shared models are float32. */
function benchCase(name: string): BenchCase {
  const folder = join(models, name, 'test_data_set_0');
  const inputs = readdirSync(folder)
    .filter((file) => file.startsWith('input_'))
    .map((file) => ({
      shape: readTensorFile(readFileSync(join(folder, file))).tensor.shape,
      url: `/models/${name}/test_data_set_0/${file}`,
    }));
  return { model: `/models/${name}/model.onnx`, inputs };
}

function installPeers(): void {
  if (existsSync(peers)) return;
  console.log('Installing the runtimes to compare with (bench/models/package.json) …');
  execFileSync('npm', ['ci', '--ignore-scripts'], { cwd: here, stdio: 'inherit' });
}

async function serve(): Promise<ViteDevServer> {
  const server = await createServer({
    root,
    configFile: false,
    logLevel: 'error',
    // Nothing may be discovered and bundled while a case is timed.
    optimizeDeps: {
      noDiscovery: true,
      include: ['comlink', '@noble/hashes/sha2.js', '@bufbuild/protobuf/wire'],
    },
    server: { host: '127.0.0.1', port: 0, hmr: false, watch: null },
    plugins: [
      {
        name: 'bench-files',
        configureServer(vite) {
          vite.middlewares.use('/models', fileHandler(models));
          vite.middlewares.use('/peers', fileHandler(peers));
        },
      },
    ],
  });
  return server.listen();
}

const TYPES: Readonly<Record<string, string>> = {
  '.mjs': 'text/javascript',
  '.wasm': 'application/wasm',
};

/** Answers tensors (`.pb`) as their raw elements and all other files as they are. */
function fileHandler(folder: string) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    const path = join(folder, new URL(request.url ?? '/', 'http://localhost').pathname);
    if (!path.startsWith(folder) || !existsSync(path)) {
      response.statusCode = 404;
      response.end();
      return;
    }
    const bytes = readFileSync(path);
    response.setHeader('content-type', TYPES[extname(path)] ?? 'application/octet-stream');
    response.end(extname(path) === '.pb' ? readTensorFile(bytes).tensor.bytes : bytes);
  };
}
