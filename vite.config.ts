import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { dropUnusedFields } from './scripts/drop-unused-fields.ts';
import { minifyWgsl } from './scripts/minify-wgsl.ts';

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

/** What a host should send with the page: nothing but its own files, no eval, no inline code. */
const SECURITY_HEADERS = {
  'Content-Security-Policy': "default-src 'self'",
  'X-Content-Type-Options': 'nosniff',
};

/** The page alone, or with `--mode e2e` the pages of the browser tests too. */
function pages(mode: string): string[] {
  if (mode !== 'e2e') return [path('index.html')];
  const names = readdirSync(path('e2e/pages')).filter((name) => name.endsWith('.html'));
  return [path('index.html'), ...names.map((name) => path(`e2e/pages/${name}`))];
}

export default defineConfig(({ mode }) => ({
  base: './',
  plugins: [minifyWgsl(), dropUnusedFields()],
  build: {
    outDir: mode === 'e2e' ? 'dist-e2e' : 'dist-page',
    target: 'es2022',
    // A data: address would break the content security policy.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1000,
    // How long plugins took is no news to who builds.
    rolldownOptions: { input: pages(mode), checks: { bundlerTimings: false } },
  },
  worker: { format: 'es' as const, plugins: () => [minifyWgsl(), dropUnusedFields()] },
  preview: { host: 'localhost', headers: SECURITY_HEADERS },
  test: {
    include: ['src/**/*.test.ts', 'scripts/**/*.test.ts'],
    testTimeout: 180_000,
  },
}));
