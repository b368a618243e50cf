import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { at, callReference } from '../testing/call-reference.ts';
import { erf, floatPower, integerPower } from '../formula/host/node-function.ts';

const RUNS = { seed: 7, numRuns: 60 };

describe('scalar functions', () => {
  test('erf has the values of the tables', () => {
    // Abramowitz and Stegun, table 7.1.
    expect(erf(0)).toBe(0);
    expect(erf(0.5)).toBeCloseTo(0.5204998778, 10);
    expect(erf(1)).toBeCloseTo(0.8427007929, 10);
    expect(erf(-2)).toBeCloseTo(-0.995322265, 10);
    expect(erf(3.5)).toBeCloseTo(0.9999992569, 10);
    expect(erf(7)).toBe(1);
    expect(erf(Number.NaN)).toBeNaN();
  });

  test('pow follows IEEE for floats and wraps for integers', () => {
    expect(floatPower(1, Number.NaN)).toBe(1);
    expect(floatPower(-2, 3)).toBe(-8);
    expect(floatPower(-2, 0.5)).toBeNaN();
    expect(floatPower(0, -1)).toBe(Infinity);
    expect(integerPower(3, 40)).toBe(Number(BigInt.asIntN(32, 3n ** 40n)));
    expect(integerPower(-7, 13)).toBe(Number(BigInt.asIntN(32, (-7n) ** 13n)));
    expect([integerPower(-1, -3), integerPower(-1, -2), integerPower(5, -1)]).toEqual([-1, 1, 0]);
  });

  test('integer arithmetic wraps', () => {
    const ints = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
    const exact = { add: (a: bigint, b: bigint) => a + b, sub: (a: bigint, b: bigint) => a - b };
    const wrapped = { ...exact, mul: (a: bigint, b: bigint) => a * b };
    fc.assert(
      fc.property(ints, ints, (a, b) => {
        for (const [name, combine] of Object.entries(wrapped)) {
          const result = combine(BigInt(a), BigInt(b));
          const tensors = (dtype: 'int32' | 'uint32') =>
            [a, b].map((value) => HostTensor.from(dtype, [], [value]));
          expect(at(callReference(name, tensors('int32')), 0)).toBe(
            Number(BigInt.asIntN(32, result)),
          );
          expect(at(callReference(name, tensors('uint32')), 0)).toBe(
            Number(BigInt.asUintN(32, result)),
          );
        }
      }),
      RUNS,
    );
  });

  test('NaN goes through comparisons of floats as numpy has it', () => {
    const nan = HostTensor.from('float32', [1], [Number.NaN]);
    const one = HostTensor.from('float32', [1], [1]);
    for (const [a, b] of [
      [nan, one],
      [one, nan],
    ] as const) {
      expect(at(callReference('maximum', [a, b]), 0)).toBeNaN();
      expect(at(callReference('minimum', [a, b]), 0)).toBeNaN();
      expect(
        ['less', 'greater', 'equal'].map((name) => at(callReference(name, [a, b]), 0)),
      ).toEqual([0, 0, 0]);
    }
    expect(at(callReference('relu', [nan]), 0)).toBeNaN();
    expect(at(callReference('clip', [nan], { min: 0, max: 1 }), 0)).toBeNaN();
    expect(at(callReference('cast', [nan], { to: 'int32' }), 0)).toBe(0);
  });
});
