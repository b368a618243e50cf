import { describe, expect, test } from 'vitest';
import { ShapeError } from '../../../core/errors.ts';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { compile } from '../../compile.ts';
import { gatherDimFacts } from '../../inference/sizes/gather-dim-facts.ts';
import { parseModule } from '../../ir/text/parse.ts';
import { loadProgram } from '../../testing/load-program.ts';

describe('bounds', () => {
  const text = `def @main(%x: Tensor[(n, 2), float32], bounds={n: (2, 3)}) {
    slice(%x, starts=[0, 0], ends=[2, 2], steps=[1, 1])
  }`;

  test('are used, and therefore checked', async () => {
    const { run, executable } = await loadProgram(text);
    // Whatever n is, the result has two rows.
    expect(executable.primitives[0]?.results[0]?.type.shape).toEqual([2, 2]);
    const rows = (count: number) => HostTensor.splat('float32', [count, 2], 1);
    const two = [
      [1, 1],
      [1, 1],
    ];
    expect(await run('main', rows(2))).toEqual(two);
    expect(await run('main', rows(3))).toEqual(two);
    await expect(run('main', rows(1))).rejects.toThrow(
      'input "x", where dimension 0 is from 2 to 3: got 1 at dimension 0 of shape (1, 2), expected 2.',
    );
    await expect(run('main', rows(4))).rejects.toThrow(ShapeError);
  });

  test('go with a symbol that is bound to a number within them', () => {
    expect(compile(parseModule(text), { dims: { n: 3 } }).functions).toHaveLength(1);
    expect(() => compile(parseModule(text), { dims: { n: 4 } })).toThrowErrorMatchingInlineSnapshot(
      `[UsageError: dimension n: got 4, expected a size from 2 to 3.]`,
    );
  });

  test('of a function that others call', async () => {
    const { run } = await loadProgram(`
      def @main(%x: Tensor[(n,), float32]) {
        @apply(fn (%y: Tensor[(?,), float32]) { %y }, @keep(%x))
      }
      def @keep(%x: Tensor[(m,), float32], bounds={m: (0, 2)}) -> Tensor[(?,), float32] { neg(%x) }
      def @apply<A, B>(%f: fn (A) -> B, %x: A) -> B { %f(%x) }`);
    expect(await run('main', HostTensor.splat('float32', [2], 1))).toEqual([-1, -1]);
    await expect(run('main', HostTensor.splat('float32', [3], 1))).rejects.toThrow(
      'where dimension 0 is from 0 to 2: got 3',
    );
  });

  test('of what no parameter has', () => {
    const wrong = 'def @main(%x: Tensor[(n,), float32], bounds={k: (1, 2)}) { neg(%x) }';
    expect(() => compile(parseModule(wrong))).toThrowErrorMatchingInlineSnapshot(
      `[TypeCheckError: ir:1:5, bounds: got the symbol k, expected one that is a dimension of a parameter that is a tensor.]`,
    );
  });

  test('are facts as far as all functions with a symbol of that name have them', () => {
    const facts = (...functions: readonly string[]): unknown => {
      const module = parseModule(functions.map((fn, i) => `def @f${i}(${fn}) { #0 }`).join('\n'));
      return Object.fromEntries(gatherDimFacts(module.functions));
    };
    const bounded = '%x: Tensor[(n,), float32], bounds={n: (2, 4)}';
    expect(facts(bounded)).toEqual({ n: { min: 2, max: 4 } });
    const wider = '%x: Tensor[(n, m), float32], bounds={n: (3, 9)}';
    expect(facts(bounded, wider)).toEqual({ n: { min: 2, max: 9 } });
    expect(facts(bounded, '%x: List[Tensor[(n,), float32]]')).toEqual({});
    expect(facts(bounded, '%x: Tensor[(m,), float32]')).toEqual({ n: { min: 2, max: 4 } });
  });
});
