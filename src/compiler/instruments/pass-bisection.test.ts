import { describe, expect, test } from 'vitest';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { compile } from '../compile.ts';
import { call } from '../ir/build.ts';
import { parseModule } from '../ir/text/parse.ts';
import { rewriteBodies } from '../ir/walk/visit.ts';
import type { ReferenceValue } from '../evaluation/reference-value.ts';
import type { Pass } from '../passes/pass.ts';
import { PassBisection } from './pass-bisection.ts';

const x = HostTensor.from('float32', [3], [1, -2, 3]);

const PROGRAMS: readonly (readonly [string, string, ReferenceValue[]])[] = [
  [
    'operators',
    'def @main(%x: Tensor[(n,), float32]) { softmax(add(mul(%x, 2f), 0f), axis=0) }',
    [x],
  ],
  [
    'closures and recursion',
    `def @twice<A>(%f: fn (A) -> A, %v: A) -> A { %f(%f(%v)) }
     def @main(%x: Tensor[(n,), float32], %i: int) {
       if (int_lt(%i, #3)) { @main(%x, int_add(%i, #1)) } else { @twice(fn (%v) { add(%v, %x) }, %x) }
     }`,
    [x, 0],
  ],
  [
    'lists',
    `def @main(%x: Tensor[(3,), float32]) {
       @foldl(fn (%a, %b) { add(%a, relu(%b)) }, [0f, 0f, 0f], Cons(%x, Cons(neg(%x), Nil)))
     }`,
    [x],
  ],
  [
    'sizes that depend on elements',
    `def @main(%x: Tensor[(n,), float32]) {
       let %at: Tensor[(1, k), int64] = nonzero(relu(%x));
       mul(gather(%x, reshape(%at, shape=[k]), axis=0), full(shape=[k], value=2))
     }`,
    [x],
  ],
  [
    'numbers of the host',
    'def @main(%i: int) { tensor_of(float_mul(float_from_int(%i), #0.5), dtype="float32") }',
    [3],
  ],
];

/** A pass that takes relu for abs. */
const wrong: Pass = {
  name: 'relu-is-abs',
  run: (module) =>
    rewriteBodies(module, (expr) =>
      expr.kind === 'call' && expr.callee.kind === 'operator' && expr.callee.name === 'relu'
        ? call('abs', expr.args)
        : expr,
    ),
};

describe('PassBisection', () => {
  test.each(PROGRAMS)('finds no pass that changes %s', (_, text, inputs) => {
    const bisection = new PassBisection({ inputs });
    compile(parseModule(text), { instruments: [bisection] });
    expect(bisection.changed).toBeUndefined();
    expect(bisection.expected).toBeDefined();
    expect(bisection.checked).toContain('infer-types');
    const known = new Set(['plan-memory', 'lower-shapes', 'liveness']);
    expect(bisection.unchecked.filter(({ pass }) => !known.has(pass))).toEqual([]);
  });

  test('finds the pass that changes a result', () => {
    const text = 'def @main(%x: Tensor[(3,), float32]) { exp(relu(%x)) }';
    const bisection = new PassBisection({ inputs: [x] });
    compile(parseModule(text), {
      passes: [{ pass: wrong, after: 'simplify' }],
      instruments: [bisection],
    });
    expect(bisection.changed?.pass).toBe('relu-is-abs');
    expect(bisection.changed?.difference).toMatch(
      /^result: 1 of 3 elements differ; the worst is at 1: got 7\.38\d+, expected 1 /,
    );
    expect(bisection.changed?.before).not.toBe(bisection.changed?.after);
  });

  test('arguments for which the pass changes nothing tell nothing', () => {
    const text = 'def @main(%x: Tensor[(3,), float32]) { exp(relu(%x)) }';
    const bisection = new PassBisection({ inputs: [HostTensor.from('float32', [3], [1, 2, 3])] });
    compile(parseModule(text), {
      passes: [{ pass: wrong, after: 'simplify' }],
      instruments: [bisection],
    });
    expect(bisection.changed).toBeUndefined();
    expect(bisection.checked).toContain('relu-is-abs');
  });

  test('functions of JavaScript have stand-ins, and without one it says why', () => {
    const text = `extern def @"my.fn"(%x: Tensor[(3,), float32]) -> Tensor[(3,), float32]
      def @main(%x: Tensor[(3,), float32]) { @"my.fn"(%x) }`;
    const functions = { 'my.fn': (value: ReferenceValue = x) => value };
    const bisection = new PassBisection({ inputs: [x], functions });
    compile(parseModule(text), { instruments: [bisection] });
    expect(bisection.expected).toEqual(x);
    const without = new PassBisection({ inputs: [x] });
    compile(parseModule(text), { instruments: [without] });
    expect(without.unchecked[0]).toEqual({
      pass: 'source',
      reason:
        'evaluating: got a call of the function my.fn of JavaScript, expected a program of operators that have host references.',
    });
  });
});
