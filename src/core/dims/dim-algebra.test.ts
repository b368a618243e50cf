import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  boundsOfDim,
  proveDifferent,
  proveEqual,
  proveLess,
  proveLessEqual,
  simplifyDim,
} from './dim-algebra.ts';
import type { DimFacts } from './dim-bounds.ts';
import { substituteDim } from './dim-symbols.ts';
import { type Dim, DIM_OPERATORS, type DimOperator, evaluateDim, formatDim } from './dim.ts';

const SYMBOLS = ['n', 'm', 'k'] as const;

const FACTS: DimFacts = new Map([
  ['m', { min: 1, max: 12 }],
  ['k', { min: -5 }],
]);

const arbitraryDim: fc.Arbitrary<Dim> = fc.letrec<{ dim: Dim }>((tie) => ({
  dim: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.oneof(fc.integer({ min: -9, max: 9 }), fc.constantFrom(...SYMBOLS)),
    fc.record({ op: fc.constantFrom(...DIM_OPERATORS), left: tie('dim'), right: tie('dim') }),
  ),
})).dim;

const arbitrarySymbols = fc
  .record({
    n: fc.integer({ min: 0, max: 20 }),
    m: fc.integer({ min: 1, max: 12 }),
    k: fc.integer({ min: -5, max: 9 }),
  })
  .map((values) => new Map(Object.entries(values)));

const RUNS = { numRuns: 3000, seed: 3 };

/** `n` or `[left, operator, right]`. */
type Sketch = Dim | readonly [Sketch, DimOperator, Sketch];

function dim(sketch: Sketch): Dim {
  if (!Array.isArray(sketch)) return sketch as Dim;
  const [left, op, right] = sketch as readonly [Sketch, DimOperator, Sketch];
  return { op, left: dim(left), right: dim(right) };
}

describe('simplifyDim', () => {
  test('never changes a value', () => {
    fc.assert(
      fc.property(arbitraryDim, fc.array(arbitrarySymbols, { minLength: 3 }), (dim, bindings) => {
        const simple = simplifyDim(dim, FACTS);
        for (const symbols of bindings) {
          const value = evaluateDim(dim, symbols);
          if (value !== undefined) expect(evaluateDim(simple, symbols)).toBe(value);
        }
      }),
      RUNS,
    );
  });

  test('is idempotent', () => {
    fc.assert(
      fc.property(arbitraryDim, (dim) => {
        const simple = simplifyDim(dim, FACTS);
        expect(formatDim(simplifyDim(simple, FACTS))).toBe(formatDim(simple));
      }),
      RUNS,
    );
  });

  test('does not depend on the order of sums and products', () => {
    fc.assert(
      fc.property(
        arbitraryDim,
        arbitraryDim,
        fc.constantFrom('add', 'mul', 'min', 'max'),
        (a, b, op) => {
          const [left, right] = [dim([a, op, b]), dim([b, op, a])];
          expect(formatDim(simplifyDim(left, FACTS))).toBe(formatDim(simplifyDim(right, FACTS)));
        },
      ),
      RUNS,
    );
  });

  test.each<[Sketch, string]>([
    [['n', 'add', 'n'], '(n * 2)'],
    [[['n', 'add', 1], 'sub', 'n'], '1'],
    [[['n', 'add', 'm'], 'mul', ['n', 'sub', 'm']], '((n * n) - (m * m))'],
    [[5, 'sub', 'n'], '(5 - n)'],
    [[-5, 'sub', 'n'], '((n * -1) - 5)'],
    [[['n', 'mul', 4], 'floordiv', 2], '(n * 2)'],
    [[[['n', 'mul', 4], 'add', 3], 'floordiv', 4], 'n'],
    [[['n', 'mul', 5], 'floordiv', 3], '(n + ((n * 2) // 3))'],
    [[['n', 'mul', 'm'], 'floordiv', 'm'], 'n'],
    [[[['n', 'mul', 'm'], 'add', ['n', 'mul', 2]], 'floordiv', ['m', 'add', 2]], 'n'],
    [[['n', 'mul', 12], 'floordiv', ['n', 'mul', 4]], '3'],
    [[[['n', 'floordiv', 2], 'add', 1], 'floordiv', 3], '((n + 2) // 6)'],
    [[['n', 'mod', 4], 'floordiv', 4], '0'],
    [[['n', 'mul', 4], 'mod', 4], '0'],
    [[['n', 'mul', 6], 'mod', 4], '((n % 2) * 2)'],
    [['m', 'mod', 20], 'm'],
    [[[7, 'min', 'n'], 'min', 3], 'min(n, 3)'],
    [[0, 'max', 'n'], 'n'],
    [[['n', 'add', 1], 'max', 'n'], '(n + 1)'],
    [['n', 'min', 2 ** 31 - 1], 'n'],
    [[['n', 'min', 5], 'min', 'n'], 'min(n, 5)'],
    [['?', 'add', 1], '?'],
  ])('%j', (sketch, expected) => {
    expect(formatDim(simplifyDim(dim(sketch), FACTS))).toBe(expected);
  });

  test('what overflows or divides by zero stays', () => {
    const large = 2 ** 53 - 1;
    expect(formatDim(simplifyDim(dim([['n', 'mul', large], 'mul', 3])))).toBe(
      `((n * ${large}) * 3)`,
    );
    expect(formatDim(simplifyDim(dim(['n', 'floordiv', 0])))).toBe('(n // 0)');
    expect(formatDim(simplifyDim(dim(['n', 'mod', 0])))).toBe('(n % 0)');
  });
});

describe('proofs', () => {
  test('hold for all values', () => {
    const claims = { proveEqual: 0, proveDifferent: 0, proveLessEqual: 0, proveLess: 0 };
    fc.assert(
      fc.property(
        arbitraryDim,
        arbitraryDim,
        fc.array(arbitrarySymbols, { minLength: 4 }),
        (a, b, bindings) => {
          const equal = proveEqual(a, b, FACTS);
          const different = proveDifferent(a, b, FACTS);
          const lessEqual = proveLessEqual(a, b, FACTS);
          const less = proveLess(a, b, FACTS);
          claims.proveEqual += Number(equal);
          claims.proveDifferent += Number(different);
          claims.proveLessEqual += Number(lessEqual);
          claims.proveLess += Number(less);
          for (const symbols of bindings) {
            const left = evaluateDim(a, symbols);
            const right = evaluateDim(b, symbols);
            if (left === undefined || right === undefined) continue;
            if (equal) expect(left).toBe(right);
            if (different) expect(left).not.toBe(right);
            if (lessEqual) expect(left).toBeLessThanOrEqual(right);
            if (less) expect(left).toBeLessThan(right);
          }
        },
      ),
      RUNS,
    );
    for (const count of Object.values(claims)) expect(count).toBeGreaterThan(10);
  });

  test('bounds hold for all values', () => {
    fc.assert(
      fc.property(arbitraryDim, fc.array(arbitrarySymbols, { minLength: 4 }), (dim, bindings) => {
        const [low, high] = boundsOfDim(dim, FACTS);
        for (const symbols of bindings) {
          const value = evaluateDim(dim, symbols);
          if (value === undefined) continue;
          expect(value).toBeGreaterThanOrEqual(low);
          expect(value).toBeLessThanOrEqual(high);
        }
      }),
      RUNS,
    );
  });

  test('of equality', () => {
    const whole = dim([[['n', 'floordiv', 4], 'mul', 4], 'add', ['n', 'mod', 4]]);
    expect(proveEqual(whole, 'n')).toBe(true);
    expect(proveEqual('n', 'm')).toBe(false);
    expect(proveDifferent('n', 'm')).toBe(false);
    expect(proveDifferent('n', dim(['n', 'add', 1]))).toBe(true);
    expect(proveEqual('?', '?')).toBe(false);
    const rest = dim(['n', 'sub', ['n', 'min', 3]]);
    expect(proveEqual(rest, dim([['n', 'sub', 3], 'max', 0]))).toBe(true);
    expect(
      proveEqual(dim([['n', 'min', 'm'], 'add', ['n', 'max', 'm']]), dim(['n', 'add', 'm'])),
    ).toBe(true);
  });

  test('of order', () => {
    expect(proveLessEqual(dim(['n', 'min', 5]), 'n')).toBe(true);
    expect(proveLessEqual('n', dim(['n', 'max', 5]))).toBe(true);
    expect(proveLessEqual(dim([['n', 'floordiv', 2], 'mul', 2]), 'n')).toBe(true);
    expect(proveLess(dim([['n', 'floordiv', 3], 'mul', 2]), dim(['n', 'add', 1]))).toBe(true);
    expect(proveLess(0, 'm', FACTS)).toBe(true);
    expect(proveLess(0, 'n', FACTS)).toBe(false);
  });
});

test('substituteDim replaces symbols and computes what became numbers', () => {
  const sum = dim([['n', 'mul', 2], 'add', 'm']);
  expect(formatDim(substituteDim(sum, new Map([['n', 3]])))).toBe('(6 + m)');
  expect(formatDim(substituteDim(sum, new Map<string, Dim>([['m', dim(['n', 'sub', 1])]])))).toBe(
    '((n * 2) + (n - 1))',
  );
  expect(substituteDim(sum, new Map([['k', 1]]))).toBe(sum);
});
