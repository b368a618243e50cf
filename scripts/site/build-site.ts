import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'vite';
import { WITH_DOCUMENTATION } from '../documentation-beside.ts';
import { type Link, pageHtml, type SiteAssets } from './page-template.ts';
import { wrongAnswers } from './newcomer-questions.ts';
import { findPages, readSource, type SitePage } from './pages.ts';
import { readNavigation } from './read-navigation.ts';
import { MarkdownRenderer, siteText } from './render-markdown.ts';
import { searchIndex } from './search-index.ts';

interface SiteFolders {
  /** Of the repository. */
  readonly root: string;
  /** Of the site. */
  readonly out: string;
}

interface BuiltSite {
  readonly pages: readonly SitePage[];
  readonly complaints: readonly string[];
}

/** Builds the demo's pages with the documentation beside them; `docs/api` has to be there (`npm run api`). */
export async function buildSite({ root, out }: SiteFolders): Promise<BuiltSite> {
  await build({
    root,
    mode: WITH_DOCUMENTATION,
    logLevel: 'warn',
    build: { outDir: out, emptyOutDir: true },
  });
  return buildDocuments({ root, out });
}

/** Builds the documentation beside the demo's pages. */
export async function buildDocuments({ root, out }: SiteFolders): Promise<BuiltSite> {
  const client = await buildClient({ root, out });
  cpSync(join(root, 'docs/pictures'), join(out, 'docs/pictures'), { recursive: true });
  const pages = findPages(root);
  const renderer = new MarkdownRenderer(pages);
  const rendered = pages.map((page) => ({
    path: page.path,
    page: renderer.render(page, readSource(root, page)),
  }));
  const search = searchIndex(rendered);
  const index = JSON.stringify(search);
  const assets: SiteAssets = {
    ...client,
    searchIndex: `docs/assets/search-${hash(index)}.json`,
  };
  write(out, assets.searchIndex, index);
  const list = siteText(readFileSync(join(root, 'docs/README.md'), 'utf8'));
  const { sections: navigation, complaints } = readNavigation(list, pages);
  const guides = navigation.flatMap(({ links }) => links).filter(({ path }) => isPage(path));
  const symbols = rendered
    .filter(({ path }) => path.startsWith('docs/api/'))
    .map(({ path, page: { title } }) => ({ path, title }));
  for (const { path, page } of rendered) {
    const order = guides.some((guide) => guide.path === path) ? guides : symbols;
    write(out, path, pageHtml({ path, page, navigation, beside: besideOf(path, order), assets }));
  }
  const lost = rendered.flatMap(({ page }) => page.lost);
  return { pages, complaints: [...complaints, ...lost, ...wrongAnswers(search)] };
}

/** The demo's pages have no order. */
const isPage = (path: string): boolean => path.startsWith('docs/');

function besideOf(path: string, order: readonly Link[]): [Link | undefined, Link | undefined] {
  const at = order.findIndex((link) => link.path === path);
  return at < 0 ? [undefined, undefined] : [order[at - 1], order[at + 1]];
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 8);

function write(out: string, path: string, text: string): void {
  mkdirSync(dirname(join(out, path)), { recursive: true });
  writeFileSync(join(out, path), text);
}

/** The scripts and the style of all pages. */
async function buildClient({
  root,
  out,
}: SiteFolders): Promise<Pick<SiteAssets, 'script' | 'style' | 'theme'>> {
  const built = await build({
    root: join(root, 'scripts/site/client'),
    configFile: false,
    publicDir: false,
    base: './',
    logLevel: 'warn',
    build: {
      outDir: out,
      emptyOutDir: false,
      target: 'es2022',
      rolldownOptions: {
        input: {
          site: join(root, 'scripts/site/client/main.ts'),
          theme: join(root, 'scripts/site/client/theme.ts'),
        },
        output: {
          entryFileNames: 'docs/assets/[name]-[hash].js',
          assetFileNames: 'docs/assets/site-[hash][extname]',
        },
      },
    },
  });
  const outputs = [built].flat().flatMap((one) => ('output' in one ? one.output : []));
  const named = (name: RegExp): string => {
    const found = outputs.find(({ fileName }) => name.test(fileName));
    if (found === undefined) throw new Error(`internal: the build made no file ${String(name)}`);
    return found.fileName;
  };
  return { script: named(/site-.*js$/), theme: named(/theme-.*js$/), style: named(/css$/) };
}
