import { posix } from 'node:path';
import type { NavigationSection } from './read-navigation.ts';
import type { RenderedPage } from './render-markdown.ts';

/** Files that every page needs, relative to the site. */
export interface SiteAssets {
  readonly script: string;
  /** Sets the colours before anything is painted. */
  readonly theme: string;
  readonly style: string;
  readonly searchIndex: string;
}

interface TemplateParts {
  readonly path: string;
  readonly page: RenderedPage;
  readonly navigation: readonly NavigationSection[];
  /** Pages to read before and after this one. */
  readonly beside: readonly [before: Link | undefined, after: Link | undefined];
  readonly assets: SiteAssets;
}

/** A page by its name. */
export interface Link {
  readonly title: string;
  readonly path: string;
}

const escape = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');

/** The first sentences of a page, as search engines show them. */
function summaryOf({ sections }: RenderedPage): string {
  const text = sections.find((section) => section.text !== '')?.text ?? '';
  return text.length <= 155 ? text : `${text.slice(0, 155).replace(/\s+\S*$/, '')} …`;
}

/** A page of the documentation. Nothing in it is inline, so a policy of `default-src 'self'` suffices. */
export function pageHtml({ path, page, navigation, beside, assets }: TemplateParts): string {
  const to = (target: string): string => posix.relative(posix.dirname(path), target);
  const item = ({ title, path: target }: Link): string =>
    `<li><a href="${to(target)}"${target === path ? ' aria-current="page"' : ''}>${escape(title)}</a></li>`;
  const menu = navigation
    .map(({ title, links }) => `<h2>${escape(title)}</h2>\n<ul>${links.map(item).join('\n')}</ul>`)
    .join('\n');
  // Of a class each member; guides are short enough without.
  const isReference = path.startsWith('docs/api/');
  const headings = page.sections.filter(
    ({ level, anchor }) => anchor !== '' && (level === 2 || (isReference && level === 3)),
  );
  const contents = headings
    .map(
      ({ title, anchor, level }) =>
        `<li class="level-${level}"><a href="#${anchor}">${escape(title)}</a></li>`,
    )
    .join('\n');
  const [before, after] = beside;
  const turn = (link: Link | undefined, rel: 'prev' | 'next', word: string): string =>
    link === undefined
      ? ''
      : `<a rel="${rel}" href="${to(link.path)}"><span>${word}</span>${escape(link.title)}</a>`;
  const way = crumbsOf(path, navigation).map(
    ({ title, path: target }) => `<a href="${to(target)}">${title}</a>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'self'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${escape(summaryOf(page))}">
<title>${escape(page.title)} · Weft</title>
<link rel="icon" href="${to('favicon.svg')}" type="image/svg+xml">
<link rel="stylesheet" href="${to(assets.style)}">
<script src="${to(assets.theme)}"></script>
<script type="module" src="${to(assets.script)}"></script>
</head>
<body data-search-index="${to(assets.searchIndex)}" data-root="${to('') || '.'}">
<a class="skip" href="#content">Skip to the page</a>
<header class="top">
<a class="brand" aria-label="Weft: the demo" href="${to('index.html')}"><img src="${to('favicon.svg')}" alt="" width="28" height="28"><span>Weft</span></a>
<a class="to-menu" href="#menu">Contents</a>
<nav class="places" aria-label="Site"><a href="${to('index.html')}">Demo</a> <a href="${to('playground.html')}">Playground</a> <a href="${to('report.html')}">Measure</a></nav>
<form class="search" role="search" hidden>
<label for="query">Search</label>
<input id="query" type="search" autocomplete="off" spellcheck="false" placeholder="Search ( / )" role="combobox" aria-expanded="false" aria-controls="found" aria-autocomplete="list">
<ul id="found" role="listbox" aria-label="Pages that were found" hidden></ul>
<p class="unseen" role="status"></p>
</form>
<button type="button" id="theme" aria-label="Dark colours" aria-pressed="false" hidden>◐</button>
</header>
<div class="columns">
<main id="content">
${way.length === 0 ? '' : `<p class="crumbs">${way.join(' › ')}</p>\n`}${page.html}
<nav class="turn" aria-label="Before and after">${turn(before, 'prev', 'Before')}${turn(after, 'next', 'Next')}</nav>
</main>
${contents === '' ? '' : `<nav class="headings" aria-label="On this page"><h2>On this page</h2>\n<ul>${contents}</ul></nav>`}
<nav class="menu" id="menu" aria-label="Documentation">
${menu}
</nav>
</div>
</body>
</html>
`;
}

const REFERENCE = 'docs/api/index.html';

/** The reference, and the entry that a name belongs to: `docs/api/weft-vm.tasks.Class.Ocr.html` is of weft-vm/tasks. */
function crumbsOf(path: string, navigation: readonly NavigationSection[]): readonly Link[] {
  if (path === REFERENCE || !path.startsWith('docs/api/')) return [];
  const entries = navigation
    .flatMap(({ links }) => links)
    .filter((link) => link.path !== path && link.path.startsWith('docs/api/weft-vm'))
    .filter((link) => path.startsWith(link.path.replace(/html$/, '')))
    .toSorted((a, b) => b.path.length - a.path.length);
  const isEntry = navigation.some(({ links }) => links.some((link) => link.path === path));
  return [{ title: 'Reference', path: REFERENCE }, ...(isEntry ? [] : entries.slice(0, 1))];
}
