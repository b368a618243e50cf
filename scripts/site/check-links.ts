import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { Parser } from 'htmlparser2';

/** The links in the pages of a built site. */
interface LinkReport {
  readonly pages: number;
  readonly links: number;
  readonly anchors: number;
  /** Addresses outside the site, sorted; nothing asks for them. */
  readonly external: readonly string[];
  /** Links that lead nowhere, and what a policy of `default-src 'self'` would refuse. */
  readonly complaints: readonly string[];
}

interface PageFacts {
  readonly ids: ReadonlySet<string>;
  readonly links: readonly string[];
  readonly refused: readonly string[];
}

const LINKS: Readonly<Record<string, string>> = {
  a: 'href',
  link: 'href',
  img: 'src',
  script: 'src',
  source: 'src',
};

function readPage(html: string): PageFacts {
  const ids = new Set<string>();
  const links: string[] = [];
  const refused: string[] = [];
  const parser = new Parser({
    onopentag(name, attributes) {
      const { id } = attributes;
      if (id !== undefined) {
        if (ids.has(id)) refused.push(`two elements have the id ${id}`);
        ids.add(id);
      }
      const link = attributes[LINKS[name] ?? ''];
      if (link !== undefined) links.push(link);
      if (name === 'style' || (name === 'script' && attributes['src'] === undefined)) {
        refused.push(`<${name}> stands in the page`);
      }
      for (const attribute of Object.keys(attributes)) {
        if (attribute === 'style' || attribute.startsWith('on')) {
          refused.push(`<${name}> has ${attribute}`);
        }
      }
    },
  });
  parser.end(html);
  return { ids, links, refused };
}

/** Reads every page below `folder` and follows its links within it. */
export function checkLinks(folder: string): LinkReport {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.html'));
  const pages = new Map(
    paths.map((path) => [path, readPage(readFileSync(join(folder, path), 'utf8'))]),
  );
  const complaints: string[] = [];
  const external = new Set<string>();
  let links = 0;
  let anchors = 0;
  for (const [path, page] of pages) {
    complaints.push(...page.refused.map((what) => `${path}: ${what}`));
    for (const link of page.links) {
      links++;
      if (/^[a-z]+:/.test(link)) external.add(link);
      else {
        if (link.includes('#')) anchors++;
        const complaint = follow(path, link, { folder, pages });
        if (complaint !== undefined) complaints.push(complaint);
      }
    }
  }
  return { pages: pages.size, links, anchors, external: [...external].sort(), complaints };
}

function follow(
  path: string,
  link: string,
  { folder, pages }: { folder: string; pages: ReadonlyMap<string, PageFacts> },
): string | undefined {
  const [target = '', anchor] = decodeURIComponent(link).split('#');
  const [file = ''] = target.split('?');
  if (file.startsWith('/')) return `${path}: ${link} is not relative`;
  let found = file === '' ? path : posix.normalize(posix.join(posix.dirname(path), file));
  if (found === './' || found === '.' || found.endsWith('/'))
    found = posix.join(found, 'index.html');
  if (found.startsWith('..')) return `${path}: ${link} leaves the site`;
  if (!existsSync(join(folder, found))) return `${path}: ${link} leads nowhere`;
  if (anchor === undefined || anchor === '') return undefined;
  return pages.get(found)?.ids.has(anchor) === false
    ? `${path}: ${link} has no such heading`
    : undefined;
}
