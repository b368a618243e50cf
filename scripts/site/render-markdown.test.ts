import { expect, test } from 'vitest';
import { MarkdownRenderer } from './render-markdown.ts';

const PAGES = [
  { source: 'docs/a.md', path: 'docs/a.html' },
  { source: 'docs/api/README.md', path: 'docs/api/index.html' },
  { source: 'README.md', path: 'docs/project/readme.html' },
];
const [PAGE] = PAGES;
if (PAGE === undefined) throw new Error('internal: no page');

const render = (text: string) => new MarkdownRenderer(PAGES).render(PAGE, text);

test('links lead to pages of the site', () => {
  const { html, lost } = render(
    '[one](api/README.md#x) [two](../README.md) [three](#y) [four](https://example.org/)',
  );
  expect(html).toContain('href="api/index.html#x"');
  expect(html).toContain('href="project/readme.html"');
  expect(html).toContain('href="#y"');
  expect(html).toContain('href="https://example.org/"');
  expect(lost).toEqual([]);
});

test('what a comment has for the site is part of the page', () => {
  const text =
    'Before.\n\n<!-- site\n- [one](api/README.md)\n-->\n\n<!-- no [two](x.md) -->\n\nAfter.';
  const { html, lost } = render(text);
  expect(html).toContain('<a href="api/index.html">one</a>');
  expect(html).not.toContain('two');
  expect(html).toContain('After.');
  expect(lost).toEqual([]);
});

test('links to other files are named', () => {
  expect(render('[one](../src/core/errors.ts)').lost).toEqual([
    'docs/a.md: ../src/core/errors.ts is not in the site',
  ]);
});

test('headings have the anchors that GitHub gives, and sections their text', () => {
  const { title, html, sections } = render(
    '# A `b`, c\n\nFirst.\n\n## On the *way*\n<!-- search: path, road -->\n\nSecond.\n\n## On the way',
  );
  expect(title).toBe('A b, c');
  expect(html).toContain('<h2 id="on-the-way">');
  expect(html).toContain('<h2 id="on-the-way-1">');
  expect(html).not.toContain('road');
  expect(sections).toEqual([
    { level: 1, title: 'A b, c', anchor: '', text: 'First.', keywords: '' },
    {
      level: 2,
      title: 'On the way',
      anchor: 'on-the-way',
      text: 'Second.',
      keywords: 'path, road',
    },
    { level: 2, title: 'On the way', anchor: 'on-the-way-1', text: '', keywords: '' },
  ]);
});

test('an anchor before a heading is its name', () => {
  const { html, sections } = render('# A\n\n<a id="run-2"></a>\n\n## run()\n\nText.\n\n## Run 2');
  expect(html).toContain('<h2 id="run-2">run()</h2>');
  expect(html).toContain('<h2>Run 2</h2>');
  expect(html).not.toContain('<a ');
  expect(sections.map(({ anchor }) => anchor)).toEqual(['', 'run-2', '']);
});

test('nothing that a policy forbids stands in a page', () => {
  const { html } = render(
    '<!-- hidden -->\n\n| a | b |\n|:--|--:|\n| <b onclick="x()">1</b> | list<function> |\n\n<a id="here"></a>there',
  );
  expect(html).not.toContain('hidden');
  expect(html).not.toContain('style=');
  expect(html).toContain('&lt;b onclick=');
  expect(html).toContain('list&lt;function&gt;');
  expect(html).toContain('<a id="here"></a>there');
});

test('blocks are coloured by classes', () => {
  const { html } = render('```weft\ndef @f(%x: int) { %x }\n```\n\n```ts run\nconst a = 1;\n```');
  expect(html).toContain('<span class="hljs-keyword">def</span>');
  expect(html).toContain('<span class="hljs-variable">%x</span>');
  expect(html).toContain('<span class="hljs-keyword">const</span>');
});

test('tables are regions with names of their own, and empty cells are no headers', () => {
  const table = '| | b |\n|---|---|\n| 1 | 2 |\n';
  const { html } = render(`# A\n\n${table}\n## \`c\` & d\n\n${table}\n## \`c\` & d\n\n${table}`);
  const names = [...html.matchAll(/aria-label="([^"]*)"/g)].map(([, name]) => name);
  expect(names).toEqual(['Table: A', 'Table: c &amp; d', 'Table: c &amp; d, 2']);
  expect(html).toContain('<tr>\n<td></td>\n<th>b</th>\n</tr>');
  const headless = render('| | |\n|---|---|\n| 1 | 2 |').html;
  expect(headless).not.toContain('<thead>');
  expect(headless).toContain('<td>1</td>');
});
