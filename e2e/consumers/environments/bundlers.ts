import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Consumer } from '../consumer.ts';
import type { Lab } from '../lab.ts';
import { checkOutcome } from '../outcome.ts';

const INDEX = `<!doctype html>
<link rel="icon" href="data:,">
<script type="module" src="/main.js"></script>`;

/** Of the application's build: most come from the package. */
const MOST_SCRIPTS = 60;

/** How many scripts a bundler wrote to `out`. Throws where they are too many. */
function countScripts(out: string): string {
  const files = readdirSync(out, { recursive: true, encoding: 'utf8' });
  const scripts = files.filter((name) => name.endsWith('.js')).length;
  if (scripts > MOST_SCRIPTS) throw new Error(`got ${scripts} scripts, expected ${MOST_SCRIPTS}`);
  return `${scripts} scripts`;
}

/** An app for Vite without any configuration. */
function viteApp(lab: Lab, name: string): string {
  return lab.makeApp(name, { 'index.html': INDEX });
}

function vite(version: 5 | 6 | 7 | 8): Consumer[] {
  const bin = (lab: Lab): string => lab.installed(`vite-${version}/bin/vite.js`);
  return [
    {
      name: `Vite ${version}, development`,
      isHeavy: true,
      run: async (lab) => {
        const app = viteApp(lab, `vite-${version}-dev`);
        const address = await lab.server(
          process.execPath,
          [bin(lab), '--port', '0', '--host', '127.0.0.1'],
          app,
        );
        return checkOutcome(await lab.open(address));
      },
    },
    {
      name: `Vite ${version}, build`,
      isHeavy: true,
      run: async (lab) => {
        const app = viteApp(lab, `vite-${version}-build`);
        await lab.tool(process.execPath, [bin(lab), 'build'], app);
        const strict = () => ({ 'content-security-policy': "default-src 'self'; img-src data:" });
        const { origin } = await lab.serve(join(app, 'dist'), strict);
        const scripts = countScripts(join(app, 'dist'));
        return `${checkOutcome(await lab.open(`${origin}/`))}, ${scripts}`;
      },
    },
  ];
}

const page = (script: string, type = 'module'): string => `<!doctype html>
<link rel="icon" href="data:,">
<script type="${type}" src="${script}" defer></script>`;

/** Serves what a bundler wrote to `out`, with the models, and opens it. */
async function openOutput(lab: Lab, app: string, html: string) {
  const out = join(app, 'out');
  const scripts = countScripts(out);
  writeFileSync(join(out, 'index.html'), html);
  lab.addModels(out);
  const { origin } = await lab.serve(out);
  return `${checkOutcome(await lab.open(`${origin}/`))}, ${scripts}`;
}

/** Its warnings are of sizes. */
const WEBPACK = `import webpack from 'webpack';
webpack({ mode: 'production', entry: './main.js', output: { path: process.cwd() + '/out' } }, (error, stats) => {
  if (error || stats.hasErrors() || stats.hasWarnings()) {
    console.error(String(error ?? stats.toString('errors-warnings')));
    process.exit(1);
  }
});
`;

function esbuild(name: string, args: readonly string[], type = 'module'): Consumer {
  return {
    name: `esbuild, ${name}`,
    isHeavy: true,
    run: async (lab) => {
      const app = lab.makeApp(`esbuild-${name.replaceAll(/\W+/g, '-')}`);
      const bin = lab.installed('esbuild/bin/esbuild');
      await lab.tool(bin, ['main.js', '--bundle', '--outdir=out', '--minify', ...args], app);
      return openOutput(lab, app, page('/main.js', type));
    },
  };
}

const NEXT_PAGE = `'use client';
import { useEffect } from 'react';

export default function Page() {
  useEffect(() => {
    import('../check.js')
      .then(({ check }) => check(new URL('/models/', location.href)))
      .then((outcome) => { globalThis.outcome = outcome; });
  }, []);
  return <p>Weft</p>;
}
`;
const NEXT_LAYOUT = `export default function Layout({ children }) {
  return <html lang="en"><body>{children}</body></html>;
}
`;

function next(mode: 'dev' | 'build'): Consumer {
  return {
    name: `Next 16, ${mode === 'dev' ? 'development' : 'build'}`,
    isHeavy: true,
    run: async (lab) => {
      const app = lab.makeApp(`next-${mode}`, {
        'app/page.jsx': NEXT_PAGE,
        'app/layout.jsx': NEXT_LAYOUT,
      });
      const bin = lab.installed('next/dist/bin/next');
      if (mode === 'build') await lab.tool(process.execPath, [bin, 'build'], app);
      const command = mode === 'dev' ? 'dev' : 'start';
      const args = [bin, command, '--port', '0', '--hostname', '127.0.0.1'];
      const address = await lab.server(process.execPath, args, app);
      return checkOutcome(await lab.open(address));
    },
  };
}

/** Apps of bundlers with their defaults. */
export const BUNDLERS: readonly Consumer[] = [
  ...vite(5),
  ...vite(6),
  ...vite(7),
  ...vite(8),
  {
    name: 'webpack 5',
    isHeavy: true,
    run: async (lab) => {
      const app = lab.makeApp('webpack', { 'build.mjs': WEBPACK });
      await lab.tool(process.execPath, ['build.mjs'], app);
      const main = readdirSync(join(app, 'out')).find((name) => name === 'main.js');
      return openOutput(lab, app, page(`/${main}`, 'text/javascript'));
    },
  },
  esbuild('one file', [], 'text/javascript'),
  esbuild('one module', ['--format=esm']),
  esbuild('splitting', ['--format=esm', '--splitting']),
  {
    name: 'Rollup',
    isHeavy: true,
    run: async (lab) => {
      const app = lab.makeApp('rollup');
      const bin = lab.installed('rollup/dist/bin/rollup');
      const args = [bin, 'main.js', '--dir', 'out', '--format', 'es', '-p', 'node-resolve'];
      await lab.tool(process.execPath, args, app);
      return openOutput(lab, app, page('/main.js'));
    },
  },
  next('dev'),
  next('build'),
];
