import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Executable } from '../../bytecode/index.ts';
import { compile, parseModule } from '../../frontend/index.ts';
import { peakMemory } from './check-program.ts';

const of = (text: string) => peakMemory(compile(parseModule(text)));
const KILOBYTE = 1024;

test('a chain of kernels holds two tensors at a time, however long it is', () => {
  const chain = (length: number) => {
    const lines = Array.from(
      { length },
      (_, i) => `let %v${i + 1} = softmax(%v${i}, axis=${i % 2});`,
    );
    return of(`def @main(%v0: Tensor[(16, 16), float32]) { ${lines.join('\n')} %v${length} }`);
  };
  expect(chain(2)).toEqual({ peak: 2 * KILOBYTE, isAtLeast: false });
  expect(chain(9)).toEqual({ peak: 2 * KILOBYTE, isAtLeast: false });
});

const DOWN = `
  def @down(%x: Tensor[(16, 16), float32], %n: int) -> Tensor[(16, 16), float32] {
    if (int_lt(%n, #1)) { %x } else { @down(softmax(%x, axis=0), int_sub(%n, #1)) }
  }`;

test('a call counts with what its function takes more, and a recursion once', () => {
  const alone = of(`${DOWN} def @main(%x: Tensor[(16, 16), float32], %n: int) { @down(%x, %n) }`);
  expect(alone).toEqual({ peak: 2 * KILOBYTE, isAtLeast: false });
  // %x, %y and the tensor of the function.
  const beside = of(`${DOWN} def @main(%x: Tensor[(16, 16), float32], %n: int) {
    let %y = softmax(%x, axis=1);
    add(%y, @down(%x, %n))
  }`);
  expect(beside.peak).toBe(3 * KILOBYTE);
});

test('sizes that runs tell are left out, and said', () => {
  expect(of('def @main(%x: Tensor[(n, 16), float32]) { softmax(%x, axis=1) }')).toEqual({
    peak: 0,
    isAtLeast: true,
  });
});

test('copies have memory of their own: two inputs, two copies and two tensors of a simulation', () => {
  const bytes = readFileSync('public/models/reaction-diffusion.weft');
  const tensor = 4 * 192 * 192;
  expect(peakMemory(Executable.fromBytes(bytes))).toEqual({
    peak: 6 * tensor + 2 * 4,
    isAtLeast: false,
  });
});
