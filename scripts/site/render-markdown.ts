import { dirname, join, posix } from 'node:path';
import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import ini from 'highlight.js/lib/languages/ini';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import MarkdownIt, { type Token } from 'markdown-it';
import anchor from 'markdown-it-anchor';
import type { SitePage } from './pages.ts';
import { weftGrammar } from './weft-grammar.ts';

hljs.registerLanguage('sh', bash);
hljs.registerLanguage('conf', ini);
hljs.registerLanguage('js', javascript);
hljs.registerLanguage('json', json);
hljs.registerLanguage('ts', typescript);
hljs.registerLanguage('html', xml);
hljs.registerLanguage('weft', weftGrammar);

type Markdown = InstanceType<typeof MarkdownIt>;

/**
 * A text as the site has it: without its comments but those of {@link KEYWORDS}, and with what stands in
 * `<!-- site … -->`, which leads to pages that the repository and the package do not have.
 */
export const siteText = (text: string): string =>
  text
    .replaceAll(/^<!-- site\n([^]*?)-->$/gm, '$1')
    .replaceAll(/^<!--(?! search: )[^]*?-->$/gm, '');

/** Words by which people look for the section, for the search alone. */
const KEYWORDS = /^<!-- search: (.*) -->$/;

/** A heading of a page and the text below it, up to the next one. */
export interface Section {
  readonly level: number;
  readonly title: string;
  /** Empty for the page's own title. */
  readonly anchor: string;
  readonly text: string;
  readonly keywords: string;
}

export interface RenderedPage {
  readonly title: string;
  readonly html: string;
  readonly sections: readonly Section[];
  /** Links that lead to no page and no file of the site. */
  readonly lost: readonly string[];
}

/** The anchor of a heading, as GitHub makes it. */
export function headingAnchor(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');
}

function textOf(tokens: readonly Token[]): string {
  return tokens
    .filter(({ type }) => ['text', 'text_special', 'code_inline', 'softbreak'].includes(type))
    .map(({ type, content }) => (type === 'softbreak' ? ' ' : content))
    .join('');
}

/** Blocks are coloured by classes: a policy may forbid styles that stand in the page. */
function highlight(code: string, language: string): string {
  if (hljs.getLanguage(language) === undefined) return '';
  return hljs.highlight(code, { language }).value;
}

/** Of HTML in Markdown only anchors and comments mean something; `list<function>` is text. */
function allowAnchors(md: Markdown): void {
  md.inline.ruler.before('text', 'anchor', (state, silent) => {
    const found = /^<a id="([\w.-]+)"><\/a>/.exec(state.src.slice(state.pos));
    if (found === null) return false;
    if (!silent) state.push('anchor', 'a', 0).attrSet('id', found[1] ?? '');
    state.pos += found[0].length;
    return true;
  });
  md.renderer.rules['anchor'] = (tokens, index, _options, _env, renderer) =>
    `<a${renderer.renderAttrs(tokens[index] as Token)}></a>`;
}

/** A comment of keywords is a token that shows nothing. */
function readKeywords(md: Markdown): void {
  md.block.ruler.before('paragraph', 'keywords', (state, line, _end, silent) => {
    const text = state.src.slice(state.bMarks[line], state.eMarks[line]);
    const [, words] = KEYWORDS.exec(text) ?? [];
    if (words === undefined) return false;
    if (!silent) state.push('keywords', '', 0).content = words;
    state.line = line + 1;
    return true;
  });
  md.renderer.rules['keywords'] = () => '';
}

function tablesScroll(md: Markdown): void {
  md.renderer.rules['table_open'] = (tokens, index, _options, env) => {
    const label = md.utils.escapeHtml(uniqueName(tableName(tokens, index), env as RenderState));
    return `<div class="table" role="region" aria-label="${label}" tabindex="0"><table>\n`;
  };
  md.renderer.rules['table_close'] = () => '</table></div>\n';
  // Alignment comes as a style, which the policy forbids.
  for (const cell of ['th_open', 'td_open']) {
    md.renderer.rules[cell] = (tokens, index, _options, _env, renderer) => {
      const token = tokens[index] as Token;
      token.attrs = null;
      return `<${isEmpty(tokens[index + 1]) ? 'td' : token.tag}${renderer.renderAttrs(token)}>`;
    };
  }
  // A cell without text names no column.
  md.renderer.rules['th_close'] = (tokens, index) =>
    isEmpty(tokens[index - 1]) ? '</td>\n' : '</th>\n';
}

const isEmpty = (token: Token | undefined): boolean =>
  token?.type === 'inline' && token.content === '';

/** Names of regions that a page has already, which assistive technology tells apart by them. */
type RenderState = { readonly names: Map<string, number> };

/** By the heading above it. */
function tableName(tokens: readonly Token[], index: number): string {
  const before = tokens.slice(0, index).findLastIndex(({ type }) => type === 'heading_open');
  return `Table: ${textOf(tokens[before + 1]?.children ?? [])}`;
}

function uniqueName(name: string, { names }: RenderState): string {
  const count = (names.get(name) ?? 0) + 1;
  names.set(name, count);
  return count === 1 ? name : `${name}, ${count}`;
}

/** Markdown has no table without a head: one whose cells are all empty goes. */
function withoutEmptyHeads(tokens: readonly Token[]): Token[] {
  const kept: Token[] = [];
  for (const token of tokens) {
    kept.push(token);
    if (token.type !== 'thead_close') continue;
    const begin = kept.findLastIndex(({ type }) => type === 'thead_open');
    const cells = kept.slice(begin).filter(({ type }) => type === 'inline');
    if (cells.every(isEmpty)) kept.splice(begin);
  }
  return kept;
}

function blocksScroll(md: Markdown): void {
  const block = (token: Token): string => {
    const [language = ''] = token.info.trim().split(/\s+/);
    const html = highlight(token.content, language) || md.utils.escapeHtml(token.content);
    return `<pre tabindex="0"><code class="language-${md.utils.escapeHtml(language)}">${html}</code></pre>\n`;
  };
  md.renderer.rules['fence'] = (tokens, index) => block(tokens[index] as Token);
  md.renderer.rules['code_block'] = (tokens, index) => block(tokens[index] as Token);
}

/** Renders Markdown files whose links go to other pages of the site. */
export class MarkdownRenderer {
  readonly #md = new MarkdownIt({ html: false, linkify: false });
  readonly #paths: ReadonlyMap<string, string>;

  constructor(pages: readonly SitePage[]) {
    this.#paths = new Map(pages.map(({ source, path }) => [source, path]));
    this.#md.use(anchor, {
      slugify: headingAnchor,
      getTokensText: (tokens: Token[]) => textOf(tokens),
      tabIndex: false,
    });
    allowAnchors(this.#md);
    readKeywords(this.#md);
    tablesScroll(this.#md);
    blocksScroll(this.#md);
  }

  render(page: SitePage, text: string): RenderedPage {
    const tokens = withoutEmptyHeads(nameHeadings(this.#md.parse(siteText(text), {})));
    const lost: string[] = [];
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const name = token.type === 'image' ? 'src' : 'href';
      const address = token.attrGet(name);
      if (typeof address !== 'string' || /^[a-z]+:/.test(address)) continue;
      const target = this.#target(page, address);
      if (target === undefined) lost.push(`${page.source}: ${address} is not in the site`);
      else token.attrSet(name, target);
    }
    const sections = sectionsOf(tokens);
    const state: RenderState = { names: new Map() };
    const html = this.#md.renderer.render(tokens, this.#md.options, state);
    return { title: sections[0]?.title ?? page.source, html, sections, lost };
  }

  /** The address of another page or picture, relative to this page. */
  #target(page: SitePage, address: string): string | undefined {
    const [path = '', anchor] = address.split('#');
    const hash = anchor === undefined ? '' : `#${anchor}`;
    if (path === '') return hash;
    const source = posix.normalize(join(dirname(page.source), path));
    // Pictures and the demo's pages lie where the sources have them.
    const isFile = /^docs\/.*\.(svg|png|jpg|webp)$|^(index|rpc|playground|report)\.html$/.test(
      source,
    );
    const target = this.#paths.get(source) ?? (isFile ? source : undefined);
    return target === undefined
      ? undefined
      : posix.relative(posix.dirname(page.path), target) + hash;
  }
}

const ANCHOR = /<a id="([\w.-]+)"><\/a>/g;

/**
 * Headings behind a paragraph that is an anchor, as the reference has them, get its name, and the
 * paragraph goes. Another heading that would have the name of an anchor by itself has none.
 */
function nameHeadings(tokens: readonly Token[]): Token[] {
  const names = new Set(
    tokens.flatMap(({ content }) => [...content.matchAll(ANCHOR)].map(([, id]) => id)),
  );
  const kept: Token[] = [];
  for (const token of tokens) {
    if (token.type === 'heading_open') {
      const id = token.attrGet('id');
      const before = kept.at(-2)?.content ?? '';
      const [found] = before.matchAll(ANCHOR);
      if (found !== undefined && found[0] === before && kept.at(-1)?.type === 'paragraph_close') {
        kept.splice(-3);
        token.attrSet('id', found[1] ?? '');
      } else if (typeof id === 'string' && names.has(id)) {
        token.attrs = (token.attrs ?? []).filter(([name]) => name !== 'id');
      }
    }
    kept.push(token);
  }
  return kept;
}

function sectionsOf(tokens: readonly Token[]): readonly Section[] {
  const sections: (Omit<Section, 'text' | 'keywords'> & { text: string[]; keywords: string[] })[] =
    [];
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'heading_open') {
      const title = textOf(tokens[index + 1]?.children ?? []);
      const isTitle = sections.length === 0;
      sections.push({
        level: Number(token.tag.slice(1)),
        title,
        anchor: isTitle ? '' : String(token.attrGet('id') ?? ''),
        text: [],
        keywords: [],
      });
    } else if (token.type === 'keywords') {
      sections.at(-1)?.keywords.push(token.content);
    } else if (token.type === 'inline' && tokens[index - 1]?.type !== 'heading_open') {
      sections.at(-1)?.text.push(textOf(token.children ?? []));
    }
  }
  return sections.map(({ text, keywords, ...section }) => ({
    ...section,
    text: text.join(' '),
    keywords: keywords.join(' '),
  }));
}
