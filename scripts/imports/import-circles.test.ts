import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { findCircles } from './find-circles.ts';
import { readImports } from './read-imports.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

const graphOf = (arrows: Readonly<Record<string, string>>) =>
  new Map(Object.entries(arrows).map(([from, to]) => [from, new Set(to)]));

// The linter's rule does not follow `import()`.
test('no file reaches itself by its imports, those of types and import() included', () => {
  const folders = ['src', 'scripts', 'tools', 'bench', 'e2e'].map((folder) => `${root}${folder}`);
  const imports = readImports(folders);
  expect(imports.size).toBeGreaterThan(1000);
  const circles = findCircles(imports);
  expect(circles.map((files) => files.map((file) => relative(root, file)))).toEqual([]);
});

test('findCircles gives all nodes of a circle, and nothing that only leads to one', () => {
  expect(findCircles(graphOf({ a: 'b', b: 'c', c: '', d: 'c' }))).toEqual([]);
  expect(findCircles(graphOf({ a: 'b', b: 'c', c: 'bd', d: '' }))).toEqual([['b', 'c']]);
  expect(findCircles(graphOf({ a: 'a', b: 'c', c: 'd', d: 'eb', e: '' }))).toEqual([
    ['a'],
    ['b', 'c', 'd'],
  ]);
  expect(findCircles(graphOf({ a: 'bc', b: 'a', c: 'a' }))).toEqual([['a', 'b', 'c']]);
});
