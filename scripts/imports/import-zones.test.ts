import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { findForbidden } from './find-forbidden.ts';
import { IMPORT_ZONES, zoneTable } from './import-zones.ts';
import { type ImportedName, readImportedNames } from './read-imports.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));
const root = `${repository}src`;

test('what ships imports what the table of zones allows, and nothing that serves tests', () => {
  const imports = readImportedNames([root]);
  expect(imports.size).toBeGreaterThan(1000);
  expect(findForbidden(imports, { root, zones: IMPORT_ZONES })).toEqual([]);
});

test('docs/architecture.md shows the table', () => {
  expect(readFileSync(`${repository}docs/architecture.md`, 'utf8')).toContain(zoneTable());
});

const zones = {
  low: { imports: [] },
  high: { imports: ['low', 'side/open.ts'], later: ['side'] },
  side: { imports: [], isForNode: true },
} as const;

const forbidden = (file: string, ...names: (string | ImportedName)[]) =>
  findForbidden(
    new Map([
      [
        `/src/${file}`,
        names.map((named) =>
          typeof named === 'string'
            ? { name: named, path: `/src/${named}`, isLater: false }
            : named,
        ),
      ],
    ]),
    { root: '/src', zones },
  );

test('a file may import its own folder, the folders below, single files, and what is loaded later', () => {
  const later = { name: '../side/shut.ts', path: '/src/side/shut.ts', isLater: true };
  const shader = { name: '../../shaders/a.wgsl', path: '/shaders/a.wgsl', isLater: false };
  const library = { name: 'comlink', isLater: false };
  expect(
    forbidden('high/a.ts', 'high/b.ts', 'low/a.ts', 'side/open.ts', later, shader, library),
  ).toEqual([]);
  const node = { name: 'node:fs', isLater: false };
  expect(forbidden('side/a.ts', node)).toEqual([]);
  expect(forbidden('low/a.test.ts', 'high/b.ts', node)).toEqual([]);
  expect(forbidden('low/testing/a.ts', 'high/b.ts', node)).toEqual([]);
});

test('each other import is named with the reason', () => {
  expect(forbidden('low/a.ts', 'high/b.ts')).toEqual([
    'low/a.ts imports high/b.ts: src/low may import only itself',
  ]);
  expect(forbidden('high/a.ts', 'side/shut.ts')).toEqual([
    'high/a.ts imports side/shut.ts: src/high may load it by import() only',
  ]);
  expect(forbidden('high/a.ts', 'high/testing/b.ts')).toEqual([
    'high/a.ts imports high/testing/b.ts: nothing that ships imports what serves tests',
  ]);
  expect(forbidden('high/a.ts', { name: 'node:fs', isLater: true })).toEqual([
    'high/a.ts imports node:fs: src/high runs in the browser',
  ]);
  expect(forbidden('lower/a.ts')).toEqual(['lower/a.ts: the folder lower has no zone']);
});
