import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';
import type { InlineConfig } from 'vitest/node';
import { builtEntries } from './scripts/built/built-entries.ts';
import { demoFiles } from './scripts/demo-files.ts';
import { homeChunks, workerChunks } from './scripts/entry-chunk.ts';
import { LongestFirst } from './scripts/longest-first.ts';
import { minifyWgsl } from './scripts/minify-wgsl.ts';
import { writeOperators } from './scripts/write-operators.mjs';

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

await writeOperators();

const STRICT = "default-src 'self'";
/** The device `wasm` compiles WebAssembly. */
const COMPILES = `${STRICT}; script-src 'self' 'wasm-unsafe-eval'`;
const COMPILERS =
  /^\/(playground\.html|report\.html|e2e\/pages\/((program-|tasks-|text-)?wasm|threads-apart)\.html)$/;
/** The demo fetches the models whose addresses it is given, too, and moves what runs through relays. */
const FETCHING = `${COMPILES}; connect-src 'self' https: ws: wss:`;
const FETCHES = /^\/(index\.html)?$/;
/** Relays and brokers are wherever whoever lends a device says. */
const LENDING = `${COMPILES}; connect-src 'self' ws: wss:`;
const LENDS = /^\/(rpc\.html|assets\/lend-worker-[\w-]+\.js)$/;

/** A page whose workers may share memory, and their files. */
const ISOLATED =
  /^\/(e2e\/pages\/threads\.html|assets\/(threads|operators)-worker-[\w-]+\.js|threadless\/[\w-]+\.js)$/;
/** What a page starts whose threads share none; those that it starts have its policy. */
const UNSHARED = /^\/assets\/apart-worker-[\w-]+\.js$/;
/** A worker that may start no others. */
const THREADLESS = /^\/threadless\//;

/** A worker's own file has its policy: that of the page that starts it. */
function policyOf(pathname: string, referrer: string | undefined, host = ''): string {
  if (LENDS.test(pathname)) return LENDING;
  // Firefox counts what a worker imports among workers.
  if (THREADLESS.test(pathname)) return `${COMPILES}; worker-src http://${host}/assets/`;
  if (ISOLATED.test(pathname) || UNSHARED.test(pathname)) return COMPILES;
  const isPage = !pathname.startsWith('/assets/') || referrer === undefined;
  const page = isPage ? pathname : new URL(referrer).pathname;
  if (FETCHES.test(page)) return FETCHING;
  return COMPILERS.test(page) ? COMPILES : STRICT;
}

/** What a host should send with the page: nothing but its own files, no eval, no inline code. */
function securityHeaders(): Plugin {
  return {
    name: 'weft:security-headers',
    configurePreviewServer(server) {
      server.middlewares.use((request, response, next) => {
        const { pathname } = new URL(request.url ?? '/', 'http://_');
        const { referer, host } = request.headers;
        const policy = policyOf(pathname, referer, host);
        response.setHeader('Content-Security-Policy', policy);
        response.setHeader('X-Content-Type-Options', 'nosniff');
        // WebKit starts no worker with these headers that imports other files.
        if (ISOLATED.test(pathname)) {
          response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
          response.setHeader('Cross-Origin-Embedder-Policy', 'require-corp');
        }
        next();
      });
    },
  };
}

/** Files that `npm test` leaves out, by mode (docs/tests.md): `vitest run --mode shared`. */
const APART = {
  /** Tests of models and cases in ../shared. */
  shared: ['{src,tools}/**/*.shared.test.ts'],
  /** Tests of pages in WebKitGTK. */
  webkit: ['scripts/webkit/*.webkit.test.ts'],
  /** Tests of what ships, in dist. */
  built: ['scripts/**/*.built.test.ts'],
  /** What continuous integration adds: classes of adapters, a broker, faults at each place. */
  ci: [
    '{src,scripts,tools,bench}/**/*.ci.test.ts',
    'src/device/operators/*.test.ts',
    'src/device/{fusion,in-place}.test.ts',
    'src/compiler/programs/kernels.test.ts',
    'src/device/webgpu/{tuning/variants,planner/matmul-variants}.test.ts',
  ],
};

/** The tests of a mode; `all` are those of `npm test`, of continuous integration and the long ones. */
function tests(mode: string): Pick<InlineConfig, 'include' | 'exclude'> {
  // Demonstrations install packages below their own folders, some of which come with tests.
  const elsewhere = ['**/node_modules/**'];
  if (mode === 'shared' || mode === 'built' || mode === 'ci' || mode === 'webkit') {
    return { include: APART[mode], exclude: elsewhere };
  }
  const isApart =
    mode === 'all' ? '*.{shared,built,webkit}.test.ts' : '*.{shared,built,webkit,ci,long}.test.ts';
  return {
    include: ['{src,scripts,tools,bench}/**/*.test.ts'],
    exclude: [...elsewhere, `**/${isApart}`],
  };
}

/** The pages alone, or with `--mode e2e` the pages of the browser tests too. */
function pages(mode: string): string[] {
  const own = ['index.html', 'rpc.html', 'playground.html', 'report.html'].map(path);
  if (mode !== 'e2e') return own;
  const names = readdirSync(path('e2e/pages')).filter((name) => name.endsWith('.html'));
  return [...own, ...names.map((name) => path(`e2e/pages/${name}`))];
}

export default defineConfig(({ mode }) => ({
  base: './',
  plugins: [
    minifyWgsl(),
    securityHeaders(),
    demoFiles(),
    homeChunks(),
    ...(mode === 'built' ? [builtEntries()] : []),
  ],
  build: {
    outDir: mode === 'e2e' ? 'dist-e2e' : 'dist-page',
    target: 'es2022',
    // A data: address would break the content security policy.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1000,
    // How long plugins took is no news to who builds.
    rolldownOptions: { input: pages(mode), checks: { bundlerTimings: false } },
  },
  worker: {
    format: 'es' as const,
    plugins: () => [minifyWgsl(), workerChunks()],
    rolldownOptions: {
      // Some workers have at once what others load later.
      checks: { bundlerTimings: false, ineffectiveDynamicImport: false },
      output: {
        entryFileNames: ({ name }: { readonly name: string }) =>
          name === 'threadless-worker' ? 'threadless/[name].js' : 'assets/[name]-[hash].js',
      },
    },
  },
  preview: { host: 'localhost' },
  test: {
    ...tests(mode),
    // Modules are loaded once for each core: no file may leave anything behind in them.
    isolate: false,
    globalSetup: path('scripts/test/build-wasm-thread.ts'),
    setupFiles: path('scripts/test/compare-typed-arrays.ts'),
    // A bound against hanging alone: right and wrong do not depend on how busy a machine is.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    // A machine may be busy; by default a poll gives up after a second.
    expect: { poll: { timeout: 120_000 } },
    // By default one core is left to the program that hands files to the others and has little to do.
    maxWorkers: '100%',
    // A sequencer of our own would keep files in order: `npm run unit -- --sequence.shuffle` draws another one.
    ...(process.argv.some((word) => word.startsWith('--sequence.shuffle'))
      ? {}
      : { sequence: { sequencer: LongestFirst } }),
  },
}));
