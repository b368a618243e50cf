import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { checkLinks } from './check-links.ts';

function siteOf(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'weft-site-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'docs'));
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text);
  return folder;
}

test('links that hold are counted', () => {
  const folder = siteOf({
    'index.html': '<a href="docs/a.html#b">a</a><a href="https://example.org/">e</a>',
    'docs/a.html': '<h2 id="b">b</h2><a href="../">home</a><img src="p.svg" alt="">',
    'docs/p.svg': '',
  });
  expect(checkLinks(folder)).toEqual({
    pages: 2,
    links: 4,
    anchors: 1,
    external: ['https://example.org/'],
    complaints: [],
  });
});

test('links that lead nowhere are named', () => {
  const folder = siteOf({
    'index.html':
      '<a href="docs/b.html">b</a><a href="docs/a.html#none">a</a><a href="/docs/a.html">r</a>',
    'docs/a.html': '<a href="../../x.html">x</a>',
  });
  expect(checkLinks(folder).complaints.toSorted()).toEqual([
    'docs/a.html: ../../x.html leaves the site',
    'index.html: /docs/a.html is not relative',
    'index.html: docs/a.html#none has no such heading',
    'index.html: docs/b.html leads nowhere',
  ]);
});

test('what a strict policy refuses is named', () => {
  const folder = siteOf({
    'index.html':
      '<p id="a" style="color: red"></p><p id="a" onclick="go()"></p><script>go()</script><style></style>',
  });
  expect(checkLinks(folder).complaints).toEqual([
    'index.html: <p> has style',
    'index.html: two elements have the id a',
    'index.html: <p> has onclick',
    'index.html: <script> stands in the page',
    'index.html: <style> stands in the page',
  ]);
});
