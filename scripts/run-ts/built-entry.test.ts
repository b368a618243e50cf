import { mkdtempSync, realpathSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { builtEntry } from './built-entry.mjs';

let folder = '';
let entry = '';

let writtenAt = Date.UTC(2020, 0, 1);

/** Each at a time of its own, before that of any build: a source that is as new as its build may be in it as it was before. */
function write(name: string, text: string): void {
  const file = join(folder, name);
  writeFileSync(file, text);
  const time = new Date((writtenAt += 1000));
  utimesSync(file, time, time);
}

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'weft-run-ts-')));
  entry = join(folder, 'entry.ts');
  write('text.wgsl', 'const one = 1;');
  write('part.ts', 'export const part: string = "first";');
  write(
    'entry.ts',
    `import text from './text.wgsl?raw';
import { part } from './part.ts';
import { shape } from 'shapes';
export const found = [text, part, shape, import.meta.url];
export const later = async (): Promise<string> => (await import('./later.ts')).name;`,
  );
  write('later.ts', 'export const name = new URL("later.txt", import.meta.url).href;');
  write('shapes.ts', 'export const shape = "round";');
});

afterEach(() => rmSync(folder, { recursive: true }));

interface Entry {
  readonly found: readonly string[];
  later(): Promise<string>;
}

const build = (): Promise<string> => builtEntry(entry, { shapes: join(folder, 'shapes.ts') });

/** By Node, as run-ts does: in this process Vitest would transform the build. */
async function run(): Promise<{ file: string; found: readonly string[]; later: string }> {
  const file = await build();
  const module = (await import(/* @vite-ignore */ pathToFileURL(file).href)) as Entry;
  return { file, found: module.found, later: await module.later() };
}

test('an entry is bundled with texts, aliases and parts that load later, which keep their addresses', async () => {
  const { found, later } = await run();
  const address = (name: string): string => pathToFileURL(join(folder, name)).href;
  expect(found).toEqual(['const one = 1;', 'first', 'round', address('entry.ts')]);
  expect(later).toBe(address('later.txt'));
});

test('a build serves until a source changes, also one that is no module', async () => {
  const before = new Date(2020, 0, 1);
  utimesSync(join(folder, 'part.ts'), before, before);
  const first = await build();
  // Of the same time and length, so only a build that is made again would notice.
  write('part.ts', 'export const part: string = "first"(');
  utimesSync(join(folder, 'part.ts'), before, before);
  expect(await build()).toBe(first);

  write('part.ts', 'export const part: string = "second";');
  const second = await run();
  expect(second.found[1]).toBe('second');
  write('text.wgsl', 'const two = 2;');
  const third = await run();
  expect(third.found[0]).toBe('const two = 2;');
  expect(new Set([first, second.file, third.file]).size).toBe(3);
});

test('a build that fails says where', async () => {
  await build();
  write('part.ts', 'export const part: = "first";');
  const said = vi.spyOn(console, 'error').mockReturnValue(undefined);
  await expect(build()).rejects.toThrow('part.ts');
  said.mockRestore();
});
