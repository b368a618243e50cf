import { join, posix } from 'node:path';
import type { SitePage } from './pages.ts';

/** A heading of docs/README.md and the pages that it lists. */
export interface NavigationSection {
  readonly title: string;
  readonly links: readonly { readonly title: string; readonly path: string }[];
}

interface Navigation {
  readonly sections: readonly NavigationSection[];
  /** A complaint for each page that no section lists. */
  readonly complaints: readonly string[];
}

/**
 * The sidebar: second headings of docs/README.md with the first link of each item below, which has to
 * name every page of docs/. Behind the reference come its entries, whose pages list their names.
 */
export function readNavigation(index: string, pages: readonly SitePage[]): Navigation {
  const paths = new Map(pages.map(({ source, path }) => [source, path]));
  const sections: { title: string; links: { title: string; path: string }[] }[] = [];
  for (const line of index.split('\n')) {
    const heading = /^## (.*)$/.exec(line)?.[1];
    if (heading !== undefined) sections.push({ title: heading, links: [] });
    const [, title, address] = /^- \[([^\]]*)\]\(([^)]*)\)/.exec(line) ?? [];
    if (title === undefined || address === undefined) continue;
    const path =
      paths.get(posix.normalize(join('docs', address))) ?? posix.normalize(join('docs', address));
    sections.at(-1)?.links.push({ title, path });
    if (path === 'docs/api/index.html') sections.at(-1)?.links.push(...entriesOf(pages));
  }
  const listed = new Set(sections.flatMap(({ links }) => links.map(({ path }) => path)));
  const complaints = pages
    .filter(({ source, path }) => !listed.has(path) && source !== 'docs/README.md')
    .filter(({ source }) => !source.startsWith('docs/api/') || source === 'docs/api/README.md')
    .map(({ source }) => `docs/README.md does not list ${source}`);
  return { sections, complaints };
}

/** Entries of the package, `docs/api/weft-vm.tasks.md`. */
const entriesOf = (pages: readonly SitePage[]): { title: string; path: string }[] =>
  pages.flatMap(({ source, path }) => {
    const [, entry] = /^docs\/api\/(weft-vm[a-z.]*)\.md$/.exec(source) ?? [];
    return entry === undefined ? [] : [{ title: entry.replaceAll('.', '/'), path }];
  });
