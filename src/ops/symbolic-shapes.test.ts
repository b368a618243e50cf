import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { simplifyDim } from '../core/dims/dim-algebra.ts';
import { type Dim, evaluateDim, formatDim } from '../core/dims/dim.ts';
import { WeftError } from '../core/errors.ts';
import type {
  Attributes,
  AttributeValue,
  TensorType,
} from '../core/contracts/primitive-function.ts';
import type { DimCheck } from '../core/dims/symbolic-dims.ts';
import type { OpDefinition } from './define-op.ts';
import type { OpCase } from './op-cases.ts';
import { SIZE_OPS } from './dynamic/sizes.ts';
import { inferCall } from './infer-call.ts';
import { inferConcreteCall } from './infer-concrete-call.ts';
import { CORE_OPERATORS } from './tables/core-operators.ts';
import { TESTED_OPS } from './testing/tested-ops.ts';

const BROADCASTING = [
  'matmul',
  'matmul_integer',
  'gemm',
  'broadcast_to',
  'scaled_dot_product_attention',
];

/** A symbol is taken not to be 1 where operands broadcast, as zero points of a convolution do. */
function broadcasts({ kind, name }: OpDefinition, input?: number): boolean {
  if (kind === 'elementwise' || BROADCASTING.includes(name)) return true;
  return name === 'conv_integer' && (input === 2 || input === 3);
}

/**
 * The length of tuples of indices says how many axes they take the place of, and the length of a
 * list of integers how many sizes they become.
 */
function decidesRank({ name }: OpDefinition, input: number, fromEnd: number): boolean {
  if (SIZE_OPS.some((op) => op.name === name)) return true;
  return ['gather_nd', 'scatter_nd'].includes(name) && input === 1 && fromEnd === 1;
}

interface SymbolicCase {
  readonly inputs: readonly (TensorType | undefined)[];
  readonly attributes: Attributes;
  readonly symbols: ReadonlyMap<string, number>;
}

/**
 * A case with some of its sizes as symbols, or as sums and products of them; equal sizes may get
 * one symbol or two.
 */
function arbitraryAbstraction(op: OpDefinition, opCase: OpCase): fc.Arbitrary<SymbolicCase> {
  const pick = fc.record({
    form: fc.constantFrom('number', 'symbol', 'symbol', 'sum', 'product'),
    alias: fc.constantFrom('a', 'b'),
  });
  return fc.infiniteStream(pick).map((stream) => {
    const symbols = new Map<string, number>();
    const symbol = (value: number, alias: string): string => {
      const name = `${alias}${value}`;
      symbols.set(name, value);
      return name;
    };
    const abstract = (value: number, input?: number): Dim => {
      const { form, alias } = stream.next().value;
      if (form === 'number' || value < 0 || (value === 1 && broadcasts(op, input))) return value;
      if (form === 'sum' && value > 2)
        return { op: 'add', left: symbol(value - 2, alias), right: 2 };
      if (form === 'product' && value % 2 === 0) {
        return { op: 'mul', left: 2, right: symbol(value / 2, alias) };
      }
      return symbol(value, alias);
    };
    const inputs = opCase.inputs.map((input, index) => {
      if (input === undefined) return undefined;
      const rank = input.shape.length;
      const shape = input.shape.map((dim, axis) =>
        decidesRank(op, index, rank - axis) ? dim : abstract(dim, index),
      );
      return { dtype: input.dtype, shape };
    });
    const attributes: Record<string, AttributeValue> = { ...opCase.attributes };
    for (const [name, spec] of Object.entries(op.attributes)) {
      const value = attributes[name];
      if (spec.type !== 'dims' || !Array.isArray(value)) continue;
      attributes[name] = value.map((item) => abstract(Number(item)));
    }
    return { inputs, attributes, symbols };
  });
}

function holds({ left, right }: DimCheck, symbols: ReadonlyMap<string, number>): boolean {
  const value = evaluateDim(left, symbols);
  return value !== undefined && value === evaluateDim(right, symbols);
}

/** Numbers have -1 where symbols have `?`: a size that depends on elements. */
function sizesOf(shape: readonly Dim[], symbols: ReadonlyMap<string, number>) {
  return shape.map((dim) => (dim === '?' ? -1 : evaluateDim(dim, symbols)));
}

const RUNS = { numRuns: 40, seed: 7 };

describe.each([...TESTED_OPS.values()].map((op) => [op.name, op] as const))('%s', (_, op) => {
  test('infers with symbols what it infers with numbers', () => {
    for (const opCase of op.cases()) {
      const concrete = inferConcreteCall(op, opCase.inputs, opCase.attributes ?? {}).output;
      const property = fc.property(arbitraryAbstraction(op, opCase), (call) => {
        const { output, checks } = inferCall(op, call.inputs, call.attributes);
        const shape = sizesOf(output.shape, call.symbols);
        expect({ dtype: output.dtype, shape }).toEqual(concrete);
        expect(checks.filter((check) => !holds(check, call.symbols))).toEqual([]);
        expect(output.shape.map((dim) => formatDim(simplifyDim(dim)))).toEqual(
          output.shape.map(formatDim),
        );
      });
      fc.assert(property, RUNS);
    }
  });

  test('gives for numbers the same without checks', () => {
    for (const { inputs, attributes = {} } of op.cases()) {
      const { output, ...call } = inferCall(op, inputs, attributes);
      expect(output.shape.includes('?') && op.kind !== 'dynamic').toBe(false);
      expect({ ...call, output: { ...output, shape: sizesOf(output.shape, new Map()) } }).toEqual({
        ...inferConcreteCall(op, inputs, attributes),
        checks: [],
      });
    }
  });

  test('refuses with the same message, and refuses symbols now or when it runs', () => {
    for (const opCase of op.badCases()) {
      const { inputs, attributes = {} } = opCase;
      const message = refusal(() => inferConcreteCall(op, inputs, attributes));
      expect(refusal(() => inferCall(op, inputs, attributes))).toBe(message);
      const property = fc.property(arbitraryAbstraction(op, opCase), (call) => {
        let checks: readonly DimCheck[];
        try {
          ({ checks } = inferCall(op, call.inputs, call.attributes));
        } catch (error) {
          expect(error).toBeInstanceOf(WeftError);
          return;
        }
        expect(checks.every((check) => holds(check, call.symbols))).toBe(false);
      });
      fc.assert(property, RUNS);
    }
  });
});

function refusal(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof WeftError) return `${error.name}: ${error.message}`;
    throw error;
  }
  return 'accepted';
}

function inferred(
  op: string,
  shapes: readonly (readonly Dim[])[],
  ...[attributes = {}, facts]: [Attributes?, Parameters<typeof inferCall>[3]?]
): string {
  const inputs = shapes.map((shape) => ({ dtype: 'float32', shape }) as const);
  const more = facts === undefined ? [] : [facts];
  const { output, checks } = inferCall(CORE_OPERATORS.require(op), inputs, attributes, ...more);
  const shape = `(${output.shape.map(formatDim).join(', ')})`;
  const open = checks.map(({ left, right }) => `${formatDim(left)} = ${formatDim(right)}`);
  return open.length === 0 ? shape : `${shape} if ${open.join(', ')}`;
}

describe('results in symbols', () => {
  test.each<[string, Parameters<typeof inferred>]>([
    ['(n, 4)', ['add', [['n', 4], [4]]]],
    [
      '(n, 4)',
      [
        'add',
        [
          ['n', 4],
          [1, 1],
        ],
      ],
    ],
    [
      '(n, 4)',
      [
        'add',
        [
          ['n', 4],
          ['n', 4],
        ],
      ],
    ],
    [
      '(n, 4) if n = m',
      [
        'add',
        [
          ['n', 4],
          ['m', 4],
        ],
      ],
    ],
    [
      '(3, 4) if n = 3',
      [
        'add',
        [
          ['n', 4],
          [3, 4],
        ],
      ],
    ],
    [
      '(b, n, m)',
      [
        'matmul',
        [
          ['b', 'n', 8],
          [8, 'm'],
        ],
      ],
    ],
    [
      '(b, n, m) if k = j',
      [
        'matmul',
        [
          ['b', 'n', 'k'],
          ['b', 'j', 'm'],
        ],
      ],
    ],
    [
      '((m + n), 4)',
      [
        'concat',
        [
          ['n', 4],
          ['m', 4],
        ],
        { axis: 0 },
      ],
    ],
    [
      '((n * 2), 4)',
      [
        'concat',
        [
          ['n', 4],
          ['n', 4],
        ],
        { axis: 0 },
      ],
    ],
    [
      '(n, 8, h, w) if min((h + 2), 3) = 3, min((w + 2), 3) = 3',
      [
        'conv2d',
        [
          ['n', 3, 'h', 'w'],
          [8, 3, 3, 3],
        ],
        { pads: [1, 1, 1, 1] },
      ],
    ],
    [
      '(n, 8, ((h + 1) // 2), 4)',
      [
        'conv2d',
        [
          ['n', 3, 'h', 8],
          [8, 3, 3, 3],
        ],
        { strides: [2, 2], pads: [1, 1, 1, 1] },
        new Map([['h', { min: 1 }]]),
      ],
    ],
    ['(min(n, 3))', ['slice', [['n']], { starts: [0], ends: [3] }]],
    ['(n)', ['slice', [['n']], { starts: [0], ends: [Number.MAX_SAFE_INTEGER] }]],
    ['((n - min(n, 1)))', ['slice', [['n']], { starts: [1], ends: [2 ** 31 - 1] }]],
    [
      '((n - max((n - 1), 0)))',
      ['slice', [['n']], { starts: [-1], ends: [Number.MAX_SAFE_INTEGER] }],
    ],
    ['(((n + 1) // 2))', ['slice', [['n']], { starts: [0], ends: [2 ** 53 - 1], steps: [2] }]],
    ['(n)', ['slice', [['n']], { starts: [-1], ends: [Number.MIN_SAFE_INTEGER], steps: [-1] }]],
    ['(min(m, n))', ['slice', [['n']], { starts: [0], ends: ['m'] }]],
    ['(max((min(k, n) - min(m, n)), 0))', ['slice', [['n']], { starts: ['m'], ends: ['k'] }]],
    ['((n + 3))', ['pad', [['n']], { pads: [1, 2] }]],
    ['(n)', ['reduce_sum', [['n', 'm']], { axes: [1] }]],
    ['(4, 1)', ['reduce_max', [[4, 'm']], { axes: [1], keepdims: true }]],
    ['(4, 1) if min(m, 1) = 1', ['arg_max', [[4, 'm']], { axis: 1 }]],
    ['(2, ?)', ['nonzero', [['n', 'm']]]],
    [
      '((m * n), 4)',
      ['reshape', [['n', 'm', 4]], { shape: [{ op: 'mul', left: 'm', right: 'n' }, 4] }],
    ],
    ['(k, 4) if (k * 4) = (n * 4)', ['reshape', [['n', 4]], { shape: ['k', 4] }]],
    ['(n, 4)', ['broadcast_to', [[4]], { shape: ['n', 4] }]],
    ['(n, 4)', ['full', [], { shape: ['n', 4], value: 1 }]],
    ['(m, n)', ['transpose', [['n', 'm']], { perm: [1, 0] }]],
  ])('%s', (expected, args) => {
    expect(inferred(...args)).toBe(expected);
  });

  test('what can never hold is refused', () => {
    const next: Dim = { op: 'add', left: 'n', right: 1 };
    expect(() => inferred('add', [['n'], [next]])).toThrowErrorMatchingInlineSnapshot(
      `[ShapeError: add: got (n,) and ((n + 1),), expected shapes that broadcast (dimension -1 is n and (n + 1)). Dimensions must be equal or 1, aligned from the right.]`,
    );
    expect(() =>
      inferred('reshape', [['n', 2]], { shape: [next, 2] }),
    ).toThrowErrorMatchingInlineSnapshot(
      `[ShapeError: reshape: attribute shape: got ((n + 1), 2) of ((n * 2) + 2) elements, expected (n * 2) elements as in float32 (n, 2).]`,
    );
  });

  test('a check says what the operator would say', () => {
    const inputs = [['n', 4] as const, ['m', 4] as const].map(
      (shape) => ({ dtype: 'float32', shape }) as const,
    );
    const { checks } = inferCall(CORE_OPERATORS.require('add'), inputs, {});
    expect(checks[0]?.message).toMatchInlineSnapshot(
      `"add: got (n, 4) and (m, 4), expected shapes that broadcast (dimension -2 is n and m). Dimensions must be equal or 1, aligned from the right."`,
    );
  });
});
