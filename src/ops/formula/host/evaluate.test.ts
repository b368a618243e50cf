import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type DType, dtypeInfo } from '../../../core/tensor/dtype.ts';
import type { NumberArray } from '../../define-op.ts';
import * as f from '../build.ts';
import type { Value } from './convert-value.ts';
import { arrayFunction } from './evaluate-arrays.ts';
import { elementFunction } from './evaluate.ts';
import type { Expression } from '../expression.ts';
import { inferTypes } from '../infer-types.ts';

const RUNS = { seed: 11, numRuns: 40 };

function evaluate(formula: Expression, dtype: DType, ...operands: readonly Value[]): Value {
  const call = { attributes: {}, dtypes: operands.map(() => dtype), output: dtype };
  return elementFunction(formula, call)(operands);
}

function newArray(dtype: DType, length: number): NumberArray {
  const array = new (dtypeInfo(dtype).array)(length);
  if (array instanceof BigInt64Array || array instanceof BigUint64Array) throw new Error(dtype);
  return array;
}

/** Random formulas of integers and floats alike, over A and B. */
const { formulas } = fc.letrec<{ formulas: Expression }>((tie) => {
  const inner = tie('formulas');
  const pairs = fc.tuple(inner, inner);
  return {
    formulas: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom(f.A, f.B),
      pairs.map(([a, b]) => f.add(a, b)),
      pairs.map(([a, b]) => f.sub(a, f.max(b, 3))),
      pairs.map(([a, b]) => f.mul(f.min(a, 2), b)),
      pairs.map(([a, b]) => f.select(f.less(a, b), f.rem(a, b), b)),
      pairs.map(([a, b]) => f.select(f.and(f.equal(a, b), f.lessEqual(a, 1)), f.abs(a), b)),
      pairs.map(([a, b]) => f.div(a, f.neg(b))),
    ),
  };
});

describe('formulas on the host', () => {
  test('types are found by work that grows with the formula', () => {
    const looksAt = (depth: number): number => {
      let count = 0;
      const seen = <N extends Expression>(node: N): N =>
        Object.defineProperty({ ...node }, 'kind', {
          enumerable: true,
          get: () => {
            count++;
            return node.kind;
          },
        });
      let formula: Expression = f.X;
      for (let i = depth; i >= 0; i--) {
        const variable: Expression = i === 0 ? f.X : { kind: 'variable', name: `v${i - 1}` };
        const value = seen(f.add(seen(variable), 1));
        formula = seen({ kind: 'let', name: `v${i}`, value, body: formula });
      }
      inferTypes(formula, { attributes: {}, dtypes: ['float32'], output: 'float32' });
      return count;
    };
    expect(looksAt(200) / looksAt(100)).toBeLessThan(2.1);
  });

  test.each(['float32', 'int32', 'uint32', 'int8'] as const)(
    'arrays of %s hold what single elements are',
    (dtype) => {
      const operands = [0, 1].map((seed) => {
        const values = newArray(dtype, 5000);
        return values.map((_, i) => ((i + 1) * (seed + 3) * 7919) % 211);
      });
      const call = { attributes: {}, dtypes: [dtype, dtype], output: dtype };
      fc.assert(
        fc.property(formulas, (formula) => {
          const output = newArray(dtype, 5000);
          arrayFunction(formula, call)(operands, output);
          const one = elementFunction(formula, call);
          const expected = newArray(dtype, 5000);
          for (let i = 0; i < 5000; i++) {
            expected[i] = Number(one(operands.map((operand) => operand[i] ?? 0)));
          }
          expect(output).toEqual(expected);
        }),
        RUNS,
      );
    },
  );

  test('the output of a loop may be an operand', () => {
    const x = Float32Array.from({ length: 3000 }, (_, i) => i - 1500);
    const formula = f.bound('size', f.abs(f.X), (size) => f.add(f.X, f.mul(size, f.X)));
    const expected = x.map((value) => value + Math.abs(value) * value);
    arrayFunction(formula, { attributes: {}, dtypes: ['float32'], output: 'float32' })([x], x);
    expect(x).toEqual(expected);
  });

  test('integers wrap at each node', () => {
    const product = f.div(f.mul(f.A, f.B), f.B);
    expect(evaluate(product, 'int32', 2 ** 31 - 1, 2)).toBe(-1);
    expect(evaluate(product, 'uint32', 2 ** 32 - 1, 2)).toBe(2 ** 31 - 1);
    expect(evaluate(product, 'int64', 2n ** 63n - 1n, 2n)).toBe(-1n);
    expect(evaluate(product, 'uint64', 2n ** 64n - 1n, 2n)).toBe(2n ** 63n - 1n);
  });

  test('division by 0 and of the least integer', () => {
    expect(evaluate(f.div(f.A, f.B), 'int32', -7, 0)).toBe(-7);
    expect(evaluate(f.div(f.A, f.B), 'int32', -(2 ** 31), -1)).toBe(-(2 ** 31));
    expect(evaluate(f.div(f.A, f.B), 'int64', -(2n ** 63n), -1n)).toBe(-(2n ** 63n));
    expect(evaluate(f.rem(f.A, f.B), 'uint64', 7n, 0n)).toBe(0n);
    expect(evaluate(f.rem(f.A, f.B), 'float32', 7, 0)).toBeNaN();
  });

  test('conversions between wide integers and floats', () => {
    const call = { attributes: {}, dtypes: ['float32'], output: 'int64' } as const;
    const toWide = elementFunction(f.convert(f.X, 'output'), call);
    expect([-1.9, Number.NaN, 1e30].map((x) => toWide([x]))).toEqual([
      -1n,
      0n,
      2n ** 63n - 2n ** 39n,
    ]);
    const back = { attributes: {}, dtypes: ['int64'], output: 'float32' } as const;
    const toFloat = elementFunction(f.convert(f.X, 'output'), back);
    expect(toFloat([2n ** 60n + 2n ** 36n + 1n])).toBe(2 ** 60 + 2 ** 37);
  });
});
