import { describe, expect, test } from 'vitest';
import { TypeCheckError, UsageError } from '../../core/errors.ts';
import { compile } from '../compile.ts';
import { call } from '../ir/build.ts';
import type { Expr } from '../ir/expr.ts';
import { parseModule } from '../ir/text/parse.ts';
import { rewriteBodies } from '../ir/walk/visit.ts';
import { allPasses, runPasses } from '../pass-table.ts';
import type { Pass } from '../passes/pass.ts';
import { PASS_NAMES } from '../passes/pass-names.ts';
import { differenceOfTexts, passDifferences } from './difference-of-texts.ts';
import { PassTimes } from './pass-instrument.ts';

const PROGRAM = 'def @main(%x: Tensor[(2,), float32]) { exp(add(log(%x), 0f)) }';

/** exp(log(x)) = x */
const cancel: Pass = {
  name: 'cancel-exp-log',
  run: (module) =>
    rewriteBodies(module, (expr) => {
      const inner = operand(expr, 'exp');
      return (inner && operand(inner, 'log')) ?? expr;
    }),
};

function operand(expr: Expr, op: string): Expr | undefined {
  const isCall = expr.kind === 'call' && expr.callee.kind === 'operator';
  return isCall && expr.callee.name === op ? expr.args[0] : undefined;
}

test('the names of passes are those of the pipeline', () => {
  const names = allPasses().map(({ name }) => name);
  // It runs where a table has compositions.
  expect(names.toSpliced(2, 0, 'expand-compositions')).toEqual(PASS_NAMES);
});

describe('compile({ passes })', () => {
  test('runs passes where they are put, in their order', () => {
    const order: string[] = [];
    const noop = (name: string): Pass => ({ name, run: (module) => module });
    compile(parseModule(PROGRAM), {
      without: ['tail-calls'],
      passes: [
        { pass: noop('first'), before: 'bind-dims' },
        { pass: noop('a'), after: 'fold-constants' },
        { pass: noop('b'), after: 'fold-constants' },
        { pass: noop('at a pass that does not run'), before: 'dispatch-by-shape' },
        { pass: noop('where one was left out'), after: 'tail-calls' },
        { pass: noop('last'), after: 'liveness' },
      ],
      dump: (pass) => order.push(pass),
    });
    expect(order).toMatchInlineSnapshot(`
      [
        "source",
        "first",
        "bind-dims",
        "infer-types",
        "expand-training",
        "inline",
        "name-unknown-dims",
        "gradient",
        "to-graph",
        "choose-layouts",
        "fold-constants",
        "simplify",
        "recognize-operators",
        "widen-float16",
        "fold-affine-into-weights",
        "fold-constants",
        "a",
        "b",
        "at a pass that does not run",
        "eliminate-common-subexpressions",
        "place-devices",
        "fuse",
        "to-anf",
        "lower-match",
        "allocate-adt-tags",
        "where one was left out",
        "lambda-lift",
        "split-tuples",
        "plan-memory",
        "lower-shapes",
        "liveness",
        "last",
      ]
    `);
  });

  test('a pass changes the program', () => {
    const passes = [{ pass: cancel, after: 'simplify' }] as const;
    expect(compile(parseModule(PROGRAM), { passes }).primitives).toEqual([]);
    expect(compile(parseModule(PROGRAM)).primitives).toHaveLength(1);
  });

  test('new nodes without types get them', () => {
    const pass: Pass = {
      name: 'wrap',
      run: (module) =>
        rewriteBodies(module, (expr) => {
          const inner = operand(expr, 'log');
          if (inner === undefined) return expr;
          const variable = { kind: 'var', name: 'v' } as const;
          return { kind: 'let', variable, value: call('abs', [inner]), body: variable };
        }),
    };
    const { primitives } = compile(parseModule(PROGRAM), { passes: [{ pass, after: 'inline' }] });
    expect(primitives.map(({ name }) => name)).toEqual(['abs_exp']);
  });

  test('an unknown place is refused with the nearest name', () => {
    const wrong: object = { pass: cancel, after: 'simplfy' };
    const passes = [wrong as { pass: Pass; after: 'simplify' }];
    const compiling = () => compile(parseModule(PROGRAM), { passes });
    expect(compiling).toThrow(UsageError);
    expect(compiling).toThrow(/^pass cancel-exp-log: got the place "simplfy", expected before or/);
    expect(compiling).toThrow(/Did you mean simplify\?$/);
    const named = { pass: { ...cancel, name: 'fuse' }, after: 'simplify' } as const;
    expect(() => compile(parseModule(PROGRAM), { passes: [named] })).toThrow(
      'passes: got a pass named "fuse", expected a name that no pass of compile has.',
    );
  });

  test('a pass that leaves an invalid module is named', () => {
    const pass: Pass = {
      name: 'break',
      run: (module) =>
        rewriteBodies(module, (expr) =>
          operand(expr, 'log') === undefined ? expr : { kind: 'var', name: 'lost' },
        ),
    };
    const compiling = () =>
      compile(parseModule(PROGRAM), { passes: [{ pass, after: 'simplify' }] });
    expect(compiling).toThrow(TypeCheckError);
    expect(compiling).toThrow(/^pass break left a module that is not valid: .*%lost/);
    expect(() => runPasses(parseModule(PROGRAM), [pass])).toThrow(/^pass break left/);
  });
});

describe('instruments', () => {
  test('PassTimes measures every run', () => {
    const times = new PassTimes();
    const order: string[] = [];
    const dump = (pass: string): void => void order.push(pass);
    compile(parseModule(PROGRAM), { instruments: [times], dump });
    expect(times.times.map(({ pass }) => pass)).toEqual(order.slice(1));
    const sum = times.times.reduce((total, { milliseconds }) => total + milliseconds, 0);
    expect(sum).toBeGreaterThan(0);
    expect(times.toText().split('\n').at(-2)).toContain(`${sum.toFixed(2)} ms  100%  all passes`);
  });

  test('passDifferences shows what changed', () => {
    const shown: string[] = [];
    compile(parseModule(PROGRAM), {
      instruments: [passDifferences((pass, text) => shown.push(`${pass}\n${text}`))],
    });
    expect(shown.find((text) => text.startsWith('simplify'))).toMatchInlineSnapshot(`
      "simplify
        def @main(%x: Tensor[(2,), float32]) -> Tensor[(2,), float32] {
          %0 = log(%x);
      -   %1 = add(%0, 0f);
      -   exp(%1)
      +   exp(%0)
        }
      "
    `);
  });

  test('are nested, and see the same modules', () => {
    const calls: string[] = [];
    const instrument = (name: string) => ({
      beforePass: ({ pass }: { pass: string }) => void (pass === 'fuse' && calls.push(`+${name}`)),
      afterPass: ({ pass }: { pass: string }) => void (pass === 'fuse' && calls.push(`-${name}`)),
    });
    compile(parseModule(PROGRAM), { instruments: [instrument('outer'), instrument('inner')] });
    expect(calls).toEqual(['+outer', '+inner', '-inner', '-outer']);
  });
});

describe('differenceOfTexts', () => {
  test('other numbers of the same values are no difference', () => {
    const lines = (...values: string[]) => values.join('\n');
    const before = lines('%0 = a();', '%1 = b(%0);', '%2 = c(%1);', 'd(%2, %1)');
    const after = lines('%0 = b(%x);', '%1 = c(%0);', 'd(%1, %0)');
    expect(differenceOfTexts(before, after)).toBe(
      lines('- %0 = a();', '- %1 = b(%0);', '+ %0 = b(%x);', '  %1 = c(%0);', '  d(%1, %0)', ''),
    );
    const swapped = lines('%0 = b(%x);', '%1 = c(%0);', 'd(%0, %1)');
    expect(differenceOfTexts(after, swapped)).toBe(
      lines('  %0 = b(%x);', '  %1 = c(%0);', '- d(%1, %0)', '+ d(%0, %1)', ''),
    );
    expect(differenceOfTexts(after, after)).toBe('');
  });

  test('equal lines far from changes are left out', () => {
    const many = Array.from({ length: 20 }, (_, i) => `line ${i}`);
    const changed = many.with(2, 'new').with(17, 'other');
    expect(differenceOfTexts(many.join('\n'), changed.join('\n'))).toMatchInlineSnapshot(`
      "  line 0
        line 1
      - line 2
      + new
        line 3
        line 4
      …
        line 15
        line 16
      - line 17
      + other
        line 18
        line 19
      "
    `);
  });
});
