import { expect, test } from 'vitest';
import { compileProgram } from './compile-program.ts';
import { EXAMPLES } from './examples.ts';
import { runProgram } from './run-program.ts';

const RESULTS: Readonly<Record<string, string>> = {
  'A dense layer': 'result = float32[2, 3] [[1.5,4,0],[0,2,1]]',
  Recursion: 'result = float32[3] [1024,2048,3072]',
  'A gradient': 'result0 = float32[] 4\nresult1 = float32[2] [8,4]',
  'A tree': 'result = float32[] 6',
  'A closure': 'result = float32[2] [21,42]',
};

test.each(EXAMPLES)('$title: passes, bytecode and result', async ({ title, program, input }) => {
  const { passes, bytecode, bytes } = compileProgram(program);
  expect(passes.map(({ pass }) => pass)).toContain('fuse');
  expect(bytecode).toContain('main');
  const [first] = (await runProgram(bytes, input)).split('\n\n');
  expect(first).toBe(RESULTS[title]);
});

test('types are those that were inferred, of data too', () => {
  const { types } = compileProgram(EXAMPLES.find(({ title }) => title === 'A tree')?.program ?? '');
  expect(types).toContain('type Tree');
  expect(types).toContain('def @main(%tree: Tree) -> Tensor[(), float32]');
});

test('arguments that are no object are refused', async () => {
  const { bytes } = compileProgram('def @main(%x: Tensor[(n,), float32]) { relu(%x) }');
  await expect(runProgram(bytes, '[1]')).rejects.toThrow(
    'arguments: got [1], expected JSON of an object',
  );
});
