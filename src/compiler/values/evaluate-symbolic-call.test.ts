import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Dim, evaluateDim, formatDim } from '../../core/dims/dim.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { Attributes } from '../../core/contracts/primitive-function.ts';
import { CORE_OPERATORS } from '../../ops/tables/core-operators.ts';
import { evaluateCall } from './evaluate-call.ts';
import { evaluateSymbolicCall } from './evaluate-symbolic-call.ts';
import { SymbolicTensor } from './symbolic-tensor.ts';

function vector(...elements: Dim[]): SymbolicTensor {
  return new SymbolicTensor('int64', [elements.length], elements);
}

function evaluated(op: string, inputs: readonly SymbolicTensor[], attributes: Attributes = {}) {
  const result = evaluateSymbolicCall(CORE_OPERATORS.require(op), inputs, attributes);
  return result === undefined
    ? undefined
    : `${result.dtype} (${result.shape.join(', ')}): ${result.elements.map(formatDim).join(', ')}`;
}

const next: Dim = { op: 'add', left: 'n', right: 1 };

describe('shape arithmetic on symbols', () => {
  test.each<[string | undefined, Parameters<typeof evaluated>]>([
    ['int64 (2): (n + 1), (m * 2)', ['add', [vector('n', 'm'), vector(1, 'm')]]],
    ['int64 (2): (n * 2), (m * n)', ['mul', [vector('n'), vector(2, 'm')]]],
    ['int64 (1): (n // 2)', ['div', [vector('n'), vector(2)]]],
    [undefined, ['div', [vector({ op: 'sub', left: 'n', right: 3 }), vector(2)]]],
    [undefined, ['div', [vector('n'), vector(0)]]],
    ['bool (3): 1, 0, 0', ['equal', [vector('n', 'n', 'n'), vector('n', next, -1)]]],
    [undefined, ['equal', [vector('n'), vector('m')]]],
    ['bool (2): 1, 0', ['less', [vector('n', 'n'), vector(next, 0)]]],
    ['bool (2): 1, 0', ['less_equal', [vector('n', next), vector('n', 'n')]]],
    ['bool (2): 0, 1', ['greater_equal', [vector('n', 'n'), vector(next, 0)]]],
    ['int64 (3): 0, 1, n', ['bitwise_or', [vector(0, 1, 'n'), vector(0, 1, 0)]]],
    ['int64 (2): 0, 1', ['bitwise_and', [vector('n', 1), vector(0, 1)]]],
    [undefined, ['bitwise_and', [vector('n'), vector(1)]]],
    ['int64 (2): n, 7', ['where', [vector(1, 0), vector('n', 'm'), vector(7)]]],
    [undefined, ['where', [vector('n'), vector(1), vector(2)]]],
    ['int64 (3): n, m, 3', ['concat', [vector('n'), vector('m', 3)], { axis: 0 }]],
    ['int64 (1): m', ['slice', [vector('n', 'm')], { starts: [-1], ends: [9] }]],
    ['int64 (): n', ['reshape', [vector('n')], { shape: [] }]],
    ['int64 (2, 1): n, n', ['broadcast_to', [vector('n')], { shape: [2, 1] }]],
    ['int32 (1): n', ['cast', [vector('n')], { to: 'int32' }]],
    ['bool (2): 1, 0', ['cast', [vector(next, 0)], { to: 'bool' }]],
    ['float32 (1): n', ['cast', [vector('n')], { to: 'float32' }]],
    [undefined, ['cast', [vector('n')], { to: 'float16' }]],
    [undefined, ['pad', [vector('n')], { pads: [1, 0] }]],
    [undefined, ['relu', [vector('n')]]],
  ])('%s', (expected, args) => {
    expect(evaluated(...args)).toBe(expected);
  });

  test('agrees with numbers', () => {
    const operators = [
      'add',
      'sub',
      'mul',
      'maximum',
      'minimum',
      'equal',
      'less',
      'greater',
      'less_equal',
      'greater_equal',
    ];
    const element = fc.oneof(fc.integer({ min: -5, max: 5 }), fc.constantFrom<Dim>('n', 'm', next));
    const property = fc.property(
      fc.constantFrom(...operators),
      fc.tuple(element, element, element),
      fc.tuple(element, element, element),
      fc.record({ n: fc.nat({ max: 9 }), m: fc.nat({ max: 9 }) }),
      (op, left, right, sizes) => {
        const symbols = new Map(Object.entries(sizes));
        const numbers = (dims: readonly Dim[]) =>
          HostTensor.from(
            'int32',
            [3],
            dims.map((dim) => evaluateDim(dim, symbols) ?? 0),
          );
        const result = evaluateSymbolicCall(
          CORE_OPERATORS.require(op),
          [vector(...left), vector(...right)],
          {},
        );
        if (result === undefined) return;
        const expected = evaluateCall(
          CORE_OPERATORS.require(op),
          [numbers(left), numbers(right)],
          {},
        );
        expect(result.elements.map((dim) => evaluateDim(dim, symbols))).toEqual(
          Array.from(expected.data as Int32Array, Number),
        );
      },
    );
    fc.assert(property, { numRuns: 500, seed: 11 });
  });
});

describe('SymbolicTensor', () => {
  test('takes small integers, and gives back what has no symbols', () => {
    const host = HostTensor.from('int64', [2], [3, -1]);
    expect(SymbolicTensor.fromHost(host)?.elements).toEqual([3, -1]);
    expect(SymbolicTensor.fromHost(host)?.toHost()).toEqual(host);
    expect(vector('n').toHost()).toBeUndefined();
    expect(SymbolicTensor.fromHost(HostTensor.from('float32', [2], [1, 0.5]))).toBeUndefined();
    expect(SymbolicTensor.fromHost(HostTensor.zeros('int64', [2000]))).toBeUndefined();
    const beyond = new HostTensor('int64', [1], BigInt64Array.of(2n ** 60n));
    expect(SymbolicTensor.fromHost(beyond)).toBeUndefined();
  });
});
