import { expect, test } from 'vitest';
import { compile, parseModule } from '../../compiler/index.ts';
import { memoryUse } from './memory-use.ts';

const TEXT = `def @main(%a: Tensor[(n, 64), float32], %b: Tensor[(64, 64), float32])
    -> Tensor[(n, 64), float32] {
  let %c = matmul(%a, %b);
  let %d = softmax(%c, axis=1);
  let %e = matmul(%d, %b);
  softmax(matmul(%e, %b), axis=1)
}`;

const program = compile(parseModule(TEXT));

test('storages live while registers have them, with sizes that follow from those of inputs', () => {
  const use = memoryUse(program, 'main', new Map([['n', 2]]));
  const lives = use?.storages.map(({ input, byteLength, spans, writers }) => [
    input,
    byteLength,
    spans.length,
    writers.length,
  ]);
  expect(lives).toEqual([
    ['a', 512, 1, 0],
    ['b', 16384, 1, 0],
    [undefined, 512, 1, 2],
    [undefined, 512, 1, 2],
    [undefined, 512, 1, 1],
  ]);
  expect(use?.symbols).toEqual(['n']);
  // Both inputs and the first product, until `a` is no longer needed.
  expect(use?.peak.byteLength).toBe(512 + 16384 + 512);
  const result = use?.storages.at(-1);
  expect(result?.spans[0]?.[1]).toBe(use?.instructionCount);
});

test('without sizes of inputs only known sizes count; a function that does not exist has no memory', () => {
  const use = memoryUse(program, 'main', new Map());
  expect(use?.storages.map(({ byteLength }) => byteLength)).toEqual([
    undefined,
    16384,
    undefined,
    undefined,
    undefined,
  ]);
  expect(memoryUse(program, 'other', new Map())).toBeUndefined();
});

test('branches are taken one after the other', () => {
  const branching = compile(
    parseModule(`def @main(%x: Tensor[(256), float32], %p: Tensor[(), bool]) -> Tensor[(256), float32] {
  if (%p) { tanh(%x) } else { let %y = softmax(%x, axis=0); softmax(%y, axis=0) }
}`),
  );
  const use = memoryUse(branching, 'main', new Map());
  const allocated = use?.storages.filter(({ input }) => input === undefined) ?? [];
  expect(allocated.length).toBeGreaterThan(1);
  for (const { byteLength, spans } of allocated.filter(({ isOnHost }) => !isOnHost)) {
    expect(byteLength).toBe(1024);
    expect(spans.length).toBeGreaterThan(0);
  }
});
