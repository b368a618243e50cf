import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { compileProgram } from '../../src/playground/compile-program.ts';
import { runProgram } from '../../src/playground/run-program.ts';
import { blocksOf } from '../documentation/marked-blocks.mjs';
import { playgroundInput } from './client/playground-input.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Programs of the documentation that its pages link to the playground. */
const LINKED = readdirSync(join(root, 'docs'))
  .filter((name) => name.endsWith('.md'))
  .flatMap((name) => blocksOf(root, `docs/${name}`))
  .filter(({ language }) => language === 'weft')
  .flatMap(({ place, lines }) => {
    const program = lines.join('\n');
    const input = playgroundInput(program);
    return input === undefined ? [] : [{ place, program, input }];
  });

test('most programs of the language page are linked', () => {
  expect(LINKED.filter(({ place }) => place.startsWith('docs/ir.md')).length).toBeGreaterThan(12);
});

test.each(LINKED)('$place runs in the playground', async ({ program, input }) => {
  const { bytes } = compileProgram(program);
  expect(await runProgram(bytes, input)).toMatch(/^result/);
});

test('what a link cannot carry has none', () => {
  const body = '{ relu(%x) }\n// run:';
  const input = (head: string, run: string): string | undefined =>
    playgroundInput(`${head} ${body} ${run}`);
  const main = 'def @main(%x: Tensor[(n,), float32])';
  expect(input(main, '([1f, -2f]) => [1f, 0f]')).toBe('{ "x": [1,-2] }');
  expect(input(main, '([inff]) => [inff]')).toBeUndefined();
  expect(input(main, '(Nil) => 1f')).toBeUndefined();
  expect(input(main, '([1f], #2) => 1f')).toBeUndefined();
  expect(input(`extern def @f(%i: int) -> int\n${main}`, '([1f]) => [1f]')).toBeUndefined();
  expect(playgroundInput(`${main} { relu(%x) }`)).toBeUndefined();
});
