import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const pages = readdirSync(join(root, 'docs'))
  .filter((name) => name.endsWith('.md'))
  .map((name) => join('docs', name));

/** Anchors of a page: those of its headings, as GitHub makes them, and its ids. */
function anchorsOf(text: string): ReadonlySet<string> {
  const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );
  // The second one of a name ends with -1.
  const numbered = headings.map((one, i) => {
    const before = headings.slice(0, i).filter((other) => other === one).length;
    return before === 0 ? one : `${one}-${before}`;
  });
  const ids = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id);
  return new Set([...numbered, ...ids]);
}

test.each(['README.md', 'CONTRIBUTING.md', ...pages])('links of %s lead somewhere', (page) => {
  // What comments have is for the site, whose build checks its links.
  const text = readFileSync(join(root, page), 'utf8').replaceAll(/```[^]*?```|<!--[^]*?-->/g, '');
  const lost = [...text.matchAll(/\]\(([^)\s]*)\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => {
      if (/^https?:/.test(link)) return false;
      const [path = '', anchor] = link.split('#');
      const file = path === '' ? page : join(dirname(page), path);
      if (!existsSync(join(root, file))) return true;
      if (anchor === undefined || !file.endsWith('.md')) return false;
      return !anchorsOf(readFileSync(join(root, file), 'utf8')).has(anchor);
    });
  expect(lost).toEqual([]);
});

/** Examples, and what is written when something is built. */
const NO_FILES = new Set(['src/program/operators.ts', 'src/compiler/passes/my-pass.ts']);

const files = ['src', 'scripts', 'tools', 'bench', 'e2e', 'shaders'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(
    (path) => `/${folder}/${path.replaceAll('\\', '/')}`,
  ),
);

test.each(['README.md', 'CONTRIBUTING.md', ...pages])('files that %s names are there', (page) => {
  const text = readFileSync(join(root, page), 'utf8');
  const named = text.matchAll(/`((?:[\w.-]+\/)+[\w.-]+\.(?:ts|mjs|wgsl))`/g);
  const lost = [...named]
    .map(([, path = '']) => path)
    .filter((path) => !NO_FILES.has(path) && !files.some((file) => file.endsWith(`/${path}`)));
  expect(lost).toEqual([]);
});
