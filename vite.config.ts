import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';
import type { InlineConfig } from 'vitest/node';
import { builtEntries } from './scripts/built/built-entries.ts';
import { demoFiles } from './scripts/demo-files.ts';
import { LongestFirst } from './scripts/longest-first.ts';
import { minifyWgsl } from './scripts/minify-wgsl.ts';

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

const STRICT = "default-src 'self'";
/** The device `wasm` compiles WebAssembly. */
const COMPILES = `${STRICT}; script-src 'self' 'wasm-unsafe-eval'`;
const COMPILERS =
  /^\/(playground\.html|report\.html|e2e\/pages\/(wasm|tasks-wasm|threads-apart|memory64|language)\.html)$/;
/** The demo fetches the models whose addresses it is given, too, and moves what runs through relays. */
const FETCHING = `${COMPILES}; connect-src 'self' https: ws: wss:`;
const FETCHES = /^\/(index\.html)?$/;
/** Relays and brokers are wherever whoever lends a device says. */
const LENDING = `${COMPILES}; connect-src 'self' ws: wss:`;
const LENDS =
  /^\/(rpc\.html|e2e\/pages\/rpc-device\.html|assets\/(lend|rpc-device)-worker-[\w-]+\.js)$/;

/** A page whose workers may share memory, and their files. */
const ISOLATED =
  /^\/(e2e\/pages\/threads\.html|assets\/(threads|operators)-worker-[\w-]+\.js|threadless\/[\w-]+\.js)$/;
/** A worker that may start no others. */
const THREADLESS = /^\/threadless\//;

/** A worker's own file has its policy: that of the page that starts it. */
function policyOf(pathname: string, referrer: string | undefined, host = ''): string {
  if (LENDS.test(pathname)) return LENDING;
  // Firefox counts what a worker imports among workers.
  if (THREADLESS.test(pathname)) return `${COMPILES}; worker-src http://${host}/assets/`;
  if (ISOLATED.test(pathname)) return COMPILES;
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
        const policy = policyOf(pathname, request.headers.referer, request.headers.host);
        response.setHeader('Content-Security-Policy', policy);
        response.setHeader('X-Content-Type-Options', 'nosniff');
        if (ISOLATED.test(pathname)) {
          response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
          response.setHeader('Cross-Origin-Embedder-Policy', 'require-corp');
        }
        next();
      });
    },
  };
}

/** Tests of models and cases in ../shared, which run by themselves: `vitest run --mode shared`. */
const SHARED_TEST = '*.shared.test.ts';

/** Tests of what ships, in dist: `vitest run --mode built`. */
const BUILT_TEST = '*.built.test.ts';

/** Folders without state of their own: their tests share modules, which are imported once for each core. */
const STATELESS = 'src/{bytecode,compiler,core,device,frontend,ops,runtime}/**/*.test.ts';

/** The tests of a mode. */
function tests(mode: string): Pick<InlineConfig, 'include' | 'projects'> {
  if (mode === 'shared') return { include: [`{src,scripts}/**/${SHARED_TEST}`] };
  if (mode === 'built') return { include: [`scripts/**/${BUILT_TEST}`] };
  // Demonstrations install packages below their own folders, some of which come with tests.
  const elsewhere = ['**/node_modules/**', `**/${SHARED_TEST}`, `**/${BUILT_TEST}`];
  const all = '{src,scripts,bench}/**/*.test.ts';
  const stateless = { name: 'stateless', include: [STATELESS], exclude: elsewhere, isolate: false };
  const alone = { name: 'alone', include: [all], exclude: [...elsewhere, STATELESS] };
  return { projects: [stateless, alone].map((test) => ({ extends: true, test })) };
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
    plugins: () => [minifyWgsl()],
    rolldownOptions: {
      checks: { bundlerTimings: false },
      output: {
        entryFileNames: ({ name }: { readonly name: string }) =>
          name === 'threadless-worker' ? 'threadless/[name].js' : 'assets/[name]-[hash].js',
      },
    },
  },
  preview: { host: 'localhost' },
  test: {
    ...tests(mode),
    setupFiles: path('scripts/test/compare-typed-arrays.ts'),
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // A machine may be busy; by default a poll gives up after a second.
    expect: { poll: { timeout: 20_000 } },
    // By default one core is left to the program that hands files to the others and has little to do.
    maxWorkers: '100%',
    sequence: { sequencer: LongestFirst },
  },
}));
