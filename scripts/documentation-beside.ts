import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';
import { runNode } from './package-checks/run.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** The mode of builds and servers with documentation beside the demo's pages: the site, and `npm start`. */
export const WITH_DOCUMENTATION = 'site';

const PLACE = / *<!-- documentation (\S+) -->\n?/g;
const SOURCE = / *<!-- source -->\n?/;
const RELAY = /<!-- relay -->\n?/;
const WAITING = `<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="2">
<meta name="color-scheme" content="light dark"><title>Weft: documentation</title>
<p>The documentation is being built, once for each npm start. This page opens it when it is there.</p></html>`;

/**
 * Links of the demo's pages: to the documentation in place of `<!-- documentation PAGE -->` where it lies beside them, to
 * the repository that package.json names, and to the relay of `npm start`. A server builds the documentation when somebody asks for it first.
 */
export function documentationBeside(): Plugin {
  let isBeside = false;
  return {
    name: 'weft:documentation-beside',
    configResolved({ mode }) {
      isBeside = mode === WITH_DOCUMENTATION;
    },
    transformIndexHtml(html) {
      const link = '<a href="./docs/$1">Documentation</a>\n';
      return html
        .replaceAll(PLACE, isBeside ? link : '')
        .replace(SOURCE, sourceLink())
        .replace(RELAY, relayMeta());
    },
    configurePreviewServer({ middlewares, config }) {
      if (!isBeside) return;
      const folder = join(config.root, config.build.outDir);
      let building: Promise<void> | undefined;
      middlewares.use('/docs', (_, response, next) => {
        if (building === undefined || !existsSync(join(folder, 'docs/index.html'))) {
          building ??= buildBeside(folder);
          response.setHeader('Content-Type', 'text/html; charset=utf-8');
          response.end(WAITING);
        } else void passOn(building, next);
      });
    },
  };
}

async function passOn(building: Promise<void>, next: (error?: unknown) => void): Promise<void> {
  try {
    await building;
  } catch (error) {
    next(error);
    return;
  }
  next();
}

async function buildBeside(folder: string): Promise<void> {
  const command = ['scripts/run-ts.mjs', 'scripts/site/documents.ts', folder];
  const { isGood, output } = await runNode(command, { cwd: ROOT });
  if (!isGood) throw new Error(`The documentation could not be built:\n${output}`);
}

/** The relay that `npm start` runs: its address, and what it asks for. */
function relayMeta(): string {
  const { WEFT_START_RELAY: relay } = process.env;
  return relay === undefined ? '' : `<meta name="weft-relay" content="${relay}" />\n`;
}

function sourceLink(): string {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    readonly repository?: string | { readonly url: string };
  };
  const { repository } = manifest;
  const url = typeof repository === 'string' ? repository : repository?.url;
  if (url === undefined) return '';
  return `<a href="${url.replace(/^git\+/, '').replace(/\.git$/, '')}">Source</a>\n`;
}
