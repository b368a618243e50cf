import { posix } from 'node:path';
import type { NavigationSection } from './read-navigation.ts';
import type { RenderedPage } from './render-markdown.ts';

/** Files that every page needs, relative to the site. */
export interface SiteAssets {
  readonly script: string;
  readonly style: string;
  readonly searchIndex: string;
}

export interface TemplateParts {
  readonly path: string;
  readonly page: RenderedPage;
  readonly navigation: readonly NavigationSection[];
  readonly assets: SiteAssets;
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
export function pageHtml({ path, page, navigation, assets }: TemplateParts): string {
  const to = (target: string): string => posix.relative(posix.dirname(path), target);
  const item = ({ title, path: target }: { title: string; path: string }): string =>
    `<li><a href="${to(target)}"${target === path ? ' aria-current="page"' : ''}>${escape(title)}</a></li>`;
  const menu = navigation
    .map(({ title, links }) => `<h2>${escape(title)}</h2>\n<ul>${links.map(item).join('\n')}</ul>`)
    .join('\n');
  const headings = page.sections.filter(({ level, anchor }) => level === 2 && anchor !== '');
  const contents = headings
    .map(({ title, anchor }) => `<li><a href="#${anchor}">${escape(title)}</a></li>`)
    .join('\n');
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
<script type="module" src="${to(assets.script)}"></script>
</head>
<body data-search-index="${to(assets.searchIndex)}" data-root="${to('') || '.'}">
<a class="skip" href="#content">Skip to the page</a>
<header class="top">
<a class="brand" href="${to('index.html')}"><img src="${to('favicon.svg')}" alt="" width="28" height="28">Weft</a>
<a class="to-menu" href="#menu">Contents</a>
<form class="search" role="search" hidden>
<label for="query">Search</label>
<input id="query" type="search" autocomplete="off" spellcheck="false" placeholder="Search ( / )" role="combobox" aria-expanded="false" aria-controls="found" aria-autocomplete="list">
<ul id="found" role="listbox" aria-label="Pages that were found" hidden></ul>
<p class="unseen" role="status"></p>
</form>
</header>
<div class="columns">
<main id="content">
${page.html}
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
