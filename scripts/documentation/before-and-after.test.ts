import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { blocksOf } from './marked-blocks.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Lines of code of an application in another library and in Weft, without blank lines and comments of their own. */
function linesOf(page: string): readonly number[] {
  const blocks = blocksOf(root, `docs/${page}.md`);
  return ['// before: ', '// after: '].map((begin) => {
    const [block] = blocks.filter(({ lines }) => lines[0]?.startsWith(begin));
    return (block?.lines ?? []).filter((line) => /\S/.test(line) && !/^\s*\/\//.test(line)).length;
  });
}

test('the README has the lines of the applications before and after', () => {
  const pages = ['from-onnxruntime-web', 'from-tensorflow-js', 'from-jax-js'];
  const cells = pages.map((page) => linesOf(page).join(', '));
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const [row = ''] = /^\| lines of a small application.*$/m.exec(readme) ?? [];
  expect(
    row
      .split('|')
      .slice(3, -1)
      .map((cell) => cell.trim()),
  ).toEqual(cells);
});

test.each(['from-transformers-js', 'from-mediapipe', 'from-webllm'])(
  '%s has an application before and after',
  (page) => {
    const [before = 0, after = 0] = linesOf(page);
    expect(after).toBeGreaterThan(2);
    expect(before).toBeGreaterThan(after);
  },
);
