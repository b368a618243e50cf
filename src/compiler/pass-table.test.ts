import { expect, test } from 'vitest';
import { parseModule } from './ir/text/parse.ts';
import { printModule } from './ir/text/print.ts';
import { equalModules } from './ir/walk/structural-equal.ts';
import { verifyModule } from './verify/verify-module.ts';
import { allPasses, runPasses } from './pass-table.ts';

const PROGRAM = `def @main(%x: Tensor[(n, 2), float32], %c: int) {
  let %y = relu(add(mul(%x, 2f), 0f));
  if (%c) { @norm(exp(%y)) } else { @norm(%y) }
}

def @norm(%x: Tensor[(n, 2), float32]) { div(%x, reduce_sum(%x, axes=[1], keepdims=true)) }`;

test.each(allPasses().map((pass) => [pass.name, pass] as const))(
  '%s by itself leaves a module that is well-typed, and text',
  (_, pass) => {
    const module = runPasses(parseModule(PROGRAM), [pass]);
    verifyModule(module);
    expect(equalModules(parseModule(printModule(module)), module)).toBe(true);
  },
);

test('no pass changes the module that it is given', () => {
  const module = parseModule(PROGRAM);
  const before = printModule(module);
  runPasses(module, allPasses());
  expect(printModule(module)).toBe(before);
  expect(runPasses(module, [])).toBe(module);
});
