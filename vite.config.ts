import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';
import { builtEntries } from './scripts/built/built-entries.ts';
import { LongestFirst } from './scripts/longest-first.ts';
import { minifyWgsl } from './scripts/minify-wgsl.ts';

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

const STRICT = "default-src 'self'";
/** Relays and brokers are wherever whoever lends a device says. A worker's own file has its policy. */
const LENDING = `${STRICT}; connect-src 'self' ws: wss:`;
const LENDS =
  /^\/(rpc\.html|e2e\/pages\/rpc-device\.html|assets\/(lend|rpc-device)-worker-[\w-]+\.js)$/;

/** What a host should send with the page: nothing but its own files, no eval, no inline code. */
function securityHeaders(): Plugin {
  return {
    name: 'weft:security-headers',
    configurePreviewServer(server) {
      server.middlewares.use((request, response, next) => {
        const { pathname } = new URL(request.url ?? '/', 'http://_');
        response.setHeader('Content-Security-Policy', LENDS.test(pathname) ? LENDING : STRICT);
        response.setHeader('X-Content-Type-Options', 'nosniff');
        next();
      });
    },
  };
}

/** Tests of models and cases in ../shared, which run by themselves: `vitest run --mode shared`. */
const SHARED_TEST = '*.shared.test.ts';

/** Tests of what ships, in dist: `vitest run --mode built`. */
const BUILT_TEST = '*.built.test.ts';

/** The tests of a mode. */
function tests(mode: string) {
  if (mode === 'shared') return { include: [`{src,scripts}/**/${SHARED_TEST}`], exclude: [] };
  if (mode === 'built') return { include: [`scripts/**/${BUILT_TEST}`], exclude: [] };
  return {
    include: ['{src,scripts}/**/*.test.ts'],
    exclude: [`**/${SHARED_TEST}`, `**/${BUILT_TEST}`],
  };
}

/** The pages alone, or with `--mode e2e` the pages of the browser tests too. */
function pages(mode: string): string[] {
  const own = [path('index.html'), path('rpc.html')];
  if (mode !== 'e2e') return own;
  const names = readdirSync(path('e2e/pages')).filter((name) => name.endsWith('.html'));
  return [...own, ...names.map((name) => path(`e2e/pages/${name}`))];
}

export default defineConfig(({ mode }) => ({
  base: './',
  plugins: [minifyWgsl(), securityHeaders(), ...(mode === 'built' ? [builtEntries()] : [])],
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
    rolldownOptions: { checks: { bundlerTimings: false } },
  },
  preview: { host: 'localhost' },
  test: {
    ...tests(mode),
    testTimeout: 180_000,
    // A machine may be busy; by default a poll gives up after a second.
    expect: { poll: { timeout: 20_000 } },
    // By default one core is left to the program that hands files to the others and has little to do.
    maxWorkers: '100%',
    sequence: { sequencer: LongestFirst },
  },
}));
