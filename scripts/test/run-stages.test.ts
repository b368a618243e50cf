import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import type { Stage } from './run-stage.mjs';
import { runStages } from './run-stages.mjs';

const folder = mkdtempSync(join(tmpdir(), 'weft-stages-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Speaks, makes a file of its name, and speaks again when that of another stage is there. */
function meeting(title: string, other: string): Stage {
  const path = (name: string): string => JSON.stringify(join(folder, name));
  const script = `
    const { existsSync, writeFileSync } = require('node:fs');
    console.log('${title} waits');
    writeFileSync(${path(title)}, '');
    const timer = setInterval(() => {
      if (!existsSync(${path(other)})) return;
      clearInterval(timer);
      console.log('${title} goes on');
    }, 10);`;
  return { title, cores: 1, command: ['node', '-e', script] };
}

test('neighbours that keep one core busy run side by side, and their outputs do not mix', async () => {
  let shown = '';
  const stages = [meeting('owl', 'fox'), meeting('fox', 'owl'), meeting('elk', 'fox')];
  const results = await runStages(stages, (part) => (shown += part));
  expect(results.map(({ title, passed }) => [title, passed])).toEqual([
    ['owl', 1],
    ['fox', 1],
    ['elk', 1],
  ]);
  const lines = shown.split('\n').filter((line) => line !== '' && !line.startsWith('=='));
  expect(lines).toEqual(
    ['owl', 'fox', 'elk'].flatMap((title) => [`${title} waits`, `${title} goes on`]),
  );
  const titles = shown.split('\n').filter((line) => line.startsWith('=='));
  expect(titles.map((line) => line.replace(/\d+\.\d s$/, 'no time'))).toEqual(
    ['owl', 'fox', 'elk'].flatMap((title) => [
      `== ${title}: node -e`,
      `== ${title}: passed in no time`,
    ]),
  );
});

test('a stage that keeps all cores busy waits for the one before it', async () => {
  const path = JSON.stringify(join(folder, 'wolf'));
  const script = (text: string): string[] => [
    'node',
    '-e',
    `const { existsSync, writeFileSync } = require('node:fs'); ${text}`,
  ];
  const isFirst = `setTimeout(() => (process.exitCode = +existsSync(${path})), 500);`;
  const stages: Stage[] = [
    { title: 'hare', cores: 1, command: script(isFirst) },
    { title: 'wolf', command: script(`writeFileSync(${path}, '');`) },
  ];
  const said = vi.spyOn(console, 'log').mockReturnValue(undefined);
  const results = await runStages(stages, () => undefined);
  said.mockRestore();
  expect(results).toMatchObject([
    { title: 'hare', failed: 0 },
    { title: 'wolf', failed: 0 },
  ]);
});
