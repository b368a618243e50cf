import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { firstDifference } from '../../core/tensor/all-close.ts';
import { randomTensor } from '../../testing/random-tensor.ts';
import { at, callReference } from '../testing/call-reference.ts';
import { multiplyMatrices, packStrided } from './matrix-product.ts';

const SUMS = { rtol: 1e-6, atol: 1e-6 };
const RUNS = { seed: 7, numRuns: 60 };
const size = (max: number) => fc.integer({ min: 1, max });

describe('matrix product', () => {
  test('the blocked product equals three loops, across block borders', () => {
    const sizes = fc.tuple(size(70), size(140), size(270));
    fc.assert(
      fc.property(sizes, fc.nat(), ([m, n, k], seed) => {
        const [a, b] = [randomTensor([m, k], seed), randomTensor([k, n], seed + 1)];
        const expected = HostTensor.zeros('float32', [m, n]);
        for (let i = 0; i < m; i++) {
          for (let j = 0; j < n; j++) {
            let sum = 0;
            for (let p = 0; p < k; p++) sum += at(a, i * k + p) * at(b, p * n + j);
            expected.elements[i * n + j] = sum;
          }
        }
        expect(firstDifference(callReference('matmul', [a, b]), expected, SUMS)).toBeUndefined();
      }),
      { ...RUNS, numRuns: 25 },
    );
  });

  test('gemm equals matmul of transposed operands, scaled and added', () => {
    const sizes = fc.tuple(size(9), size(9), size(9));
    fc.assert(
      fc.property(sizes, fc.boolean(), fc.boolean(), ([m, n, k], transA, transB) => {
        const [a, b] = [randomTensor([m, k], m), randomTensor([k, n], n)];
        const c = randomTensor([m, 1], k);
        const flip = (x: HostTensor) => callReference('transpose', [x], { perm: [1, 0] });
        const product = callReference('matmul', [a, b]);
        const expected = HostTensor.from(
          'float32',
          [m, n],
          Array.from({ length: m * n }, (_, i) => at(product, i) * 0.5 - at(c, Math.floor(i / n))),
        );
        const actual = callReference('gemm', [transA ? flip(a) : a, transB ? flip(b) : b, c], {
          alpha: 0.5,
          beta: -1,
          trans_a: transA,
          trans_b: transB,
        });
        expect(firstDifference(actual, expected, SUMS)).toBeUndefined();
      }),
      RUNS,
    );
  });

  test('each element is stored once', () => {
    const seen = new Map<string, number>();
    const elements = new Float32Array(130 * 3);
    const pack = packStrided({ elements, offset: 0, laneStride: 3, depthStride: 1 });
    const store = (row: number, column: number): void => {
      seen.set(`${row},${column}`, (seen.get(`${row},${column}`) ?? 0) + 1);
    };
    multiplyMatrices({ m: 67, n: 130, k: 3, packA: pack, packB: pack, store });
    expect(seen.size).toBe(67 * 130);
    expect(new Set(seen.values())).toEqual(new Set([1]));
  });
});
