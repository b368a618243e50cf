import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'rolldown/utils';
import { expect, test } from 'vitest';
import { planted, productFiles, roomOf } from './change.ts';
import { drawChanges } from './draw-changes.ts';
import { HAND_MADE, handMadeChange } from './hand-made.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const sourceOf = (file: string) => readFileSync(join(root, file), 'utf8');

const drawn = drawChanges(root, { seed: 1, count: 60 });

test('a seed draws the same changes, more of them begin with the same ones, another seed draws others', () => {
  expect(drawn).toHaveLength(60);
  expect(drawChanges(root, { seed: 1, count: 30 })).toEqual(drawn.slice(0, 30));
  expect(drawChanges(root, { seed: 2, count: 5 })).not.toEqual(drawn.slice(0, 5));
});

test('drawn changes are in each room, in product files, and give other sources that parse', () => {
  const files = productFiles(root);
  expect(files).not.toContain('src/program/operators.ts');
  expect(new Set(drawn.map(({ file }) => roomOf(file)))).toEqual(new Set(files.map(roomOf)));
  for (const change of drawn) {
    expect(files).toContain(change.file);
    const text = planted(sourceOf(change.file), change);
    expect(text).not.toBe(sourceOf(change.file));
    expect(parseSync(change.file, text).errors).toEqual([]);
  }
});

test('each change by hand finds its place once, and changes it', () => {
  const changes = HAND_MADE.map((made) => handMadeChange(root, made));
  expect(changes).toHaveLength(30);
  expect(new Set(changes.map(({ id }) => id)).size).toBe(30);
  for (const change of changes) {
    expect(planted(sourceOf(change.file), change)).not.toBe(sourceOf(change.file));
  }
});

test('a change by hand whose place is gone is refused by name', () => {
  const made = { file: 'src/wasm/for-parts.ts', find: 'i32.ne', replace: 'i32.eq', effect: '' };
  expect(() => handMadeChange(root, made)).toThrow(
    'tools/mutants/hand-made.ts: src/wasm/for-parts.ts has "i32.ne" 0 times, expected once. Write what is there now.',
  );
});
