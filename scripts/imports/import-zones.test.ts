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
  side: { imports: [], later: ['side/inner'], isForNode: true },
  'side/inner': { imports: ['side'] },
} as const;

const forbidden = (file: string, ...names: (string | ImportedName)[]) =>
  findForbidden(
    new Map([
      [
        `/src/${file}`,
        names.map((named) =>
          typeof named === 'string'
            ? ({ name: named, path: `/src/${named}`, kind: 'now' } as const)
            : named,
        ),
      ],
    ]),
    { root: '/src', zones },
  );

test('a file may import its own folder, the folders below, single files, and what is loaded later', () => {
  const later = { name: '../side/shut.ts', path: '/src/side/shut.ts', kind: 'later' } as const;
  const shader = { name: '../../shaders/a.wgsl', path: '/shaders/a.wgsl', kind: 'now' } as const;
  const library = { name: 'comlink', kind: 'now' } as const;
  expect(
    forbidden('high/a.ts', 'high/b.ts', 'low/a.ts', 'side/open.ts', later, shader, library),
  ).toEqual([]);
  const node = { name: 'node:fs', kind: 'now' } as const;
  expect(forbidden('side/a.ts', node)).toEqual([]);
  expect(forbidden('low/a.test.ts', 'high/b.ts', node)).toEqual([]);
  expect(forbidden('low/testing/a.ts', 'high/b.ts', node)).toEqual([]);
});

test('a zone within another one is neither free for it nor free to use it', () => {
  const later = { name: './inner/a.ts', path: '/src/side/inner/a.ts', kind: 'later' } as const;
  expect(forbidden('side/a.ts', later)).toEqual([]);
  expect(forbidden('side/a.ts', { ...later, kind: 'type' })).toEqual([]);
  expect(forbidden('side/inner/a.ts', 'side/a.ts')).toEqual([]);
  expect(forbidden('side/a.ts', 'side/inner/a.ts')).toEqual([
    'side/a.ts imports side/inner/a.ts: src/side may load it by import() only, and import its types',
  ]);
  expect(forbidden('high/a.ts', 'side/inner/a.ts')).toEqual([
    'high/a.ts imports side/inner/a.ts: src/high may import only low, side/open.ts',
  ]);
});

test('no file, and no test either, imports what lies outside, but shaders and package.json', () => {
  const script = {
    name: '../../scripts/run.mjs',
    path: '/scripts/run.mjs',
    kind: 'later',
  } as const;
  const reason = 'src/ imports nothing outside of it but shaders/ and package.json';
  for (const file of ['low/a.ts', 'low/a.test.ts', 'low/testing/a.ts', 'testing/a.ts']) {
    expect(forbidden(file, script)).toEqual([`${file} imports ../../scripts/run.mjs: ${reason}`]);
  }
  const shader = { name: '../../shaders/a.wgsl', path: '/shaders/a.wgsl', kind: 'now' } as const;
  const manifest = { name: '../../package.json', path: '/package.json', kind: 'now' } as const;
  expect(forbidden('low/testing/a.ts', shader, manifest)).toEqual([]);
});

test('each other import is named with the reason', () => {
  expect(forbidden('low/a.ts', 'high/b.ts')).toEqual([
    'low/a.ts imports high/b.ts: src/low may import only itself',
  ]);
  expect(forbidden('high/a.ts', 'side/shut.ts')).toEqual([
    'high/a.ts imports side/shut.ts: src/high may load it by import() only, and import its types',
  ]);
  expect(forbidden('high/a.ts', 'high/testing/b.ts')).toEqual([
    'high/a.ts imports high/testing/b.ts: nothing that ships imports what serves tests',
  ]);
  expect(forbidden('high/a.ts', { name: 'node:fs', kind: 'later' } as const)).toEqual([
    'high/a.ts imports node:fs: src/high runs in the browser',
  ]);
  expect(forbidden('lower/a.ts')).toEqual(['lower/a.ts: the folder lower has no zone']);
});
