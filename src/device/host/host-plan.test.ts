import { describe, expect, it } from 'vitest';
import type {
  ConcreteTensorType,
  PrimitiveFunction,
} from '../../core/contracts/primitive-function.ts';
import { CORE_OPERATORS } from '../../ops/tables/core-operators.ts';
import { type HostPlan, planOnHost } from './host-plan.ts';

const float = (...shape: number[]): ConcreteTensorType => ({ dtype: 'float32', shape });

function planOf(
  params: readonly ConcreteTensorType[],
  body: PrimitiveFunction['body'],
  result: ConcreteTensorType,
): HostPlan {
  const value = params.length + body.length - 1;
  const primitive = { name: 'p', params, body, results: [{ value, type: result }] };
  return planOnHost(primitive, params, { operators: CORE_OPERATORS });
}

const labels = ({ steps }: HostPlan): string[] => steps.map(({ label }) => label);

describe('planOnHost', () => {
  it('has other shapes of a value in its memory, and reads them there', () => {
    const plan = planOf(
      [float(6)],
      [
        { op: 'exp', inputs: [0], attributes: {} },
        { op: 'reshape', inputs: [1], attributes: { shape: [2, 3] } },
        { op: 'reshape', inputs: [2], attributes: { shape: [3, 2] } },
        { op: 'transpose', inputs: [3], attributes: { perm: [1, 0] } },
      ],
      float(2, 3),
    );
    expect(labels(plan)).toEqual(['exp', 'transpose']);
    expect([...plan.views]).toEqual([
      [2, 1],
      [3, 1],
    ]);
    expect(plan.temporaries).toEqual([{ value: 1, slot: 0 }]);
  });

  it('copies a result that is an argument in another shape', () => {
    const reshape = { op: 'reshape', inputs: [0], attributes: { shape: [2, 3] } };
    expect(labels(planOf([float(6)], [reshape], float(2, 3)))).toEqual(['reshape']);
  });

  it('lets elementwise calls wait for others that do not read them', () => {
    const plan = planOf(
      [float(4, 4), float(4, 4)],
      [
        { op: 'exp', inputs: [0], attributes: {} },
        { op: 'matmul', inputs: [1, 1], attributes: {} },
        { op: 'add', inputs: [2, 3], attributes: {} },
      ],
      float(4, 4),
    );
    expect(labels(plan)).toEqual(['matmul', 'exp+add']);
    expect(plan.temporaries).toEqual([{ value: 3, slot: 0, fitsResult: true }]);
  });

  it('takes no place of the result for what is read elsewhere or at other places', () => {
    const product = { op: 'matmul', inputs: [0, 0], attributes: {} };
    const row = { op: 'reduce_sum', inputs: [1], attributes: { axes: [0], keepdims: true } };
    const twice = [product, row, { op: 'sub', inputs: [1, 2], attributes: {} }];
    expect(planOf([float(4, 4)], twice, float(4, 4)).temporaries).toEqual([
      { value: 1, slot: 0 },
      { value: 2, slot: 1 },
    ]);
  });

  it('gives a slot to the next one when its value has been read', () => {
    const products = [0, 1, 2].map((i) => ({ op: 'matmul', inputs: [i, i], attributes: {} }));
    const sum = { op: 'reduce_sum', inputs: [3], attributes: { axes: [0, 1] } };
    const plan = planOf([float(4, 4)], [...products, sum], float());
    expect(plan.temporaries.map(({ value, slot }) => [value, slot])).toEqual([
      [1, 0],
      [3, 0],
      [2, 1],
    ]);
  });

  it('numbers slots by size', () => {
    const plan = planOf(
      [float(2, 2), float(8, 8)],
      [
        { op: 'matmul', inputs: [0, 0], attributes: {} },
        { op: 'matmul', inputs: [1, 1], attributes: {} },
        { op: 'reduce_sum', inputs: [2], attributes: { axes: [0, 1] } },
        { op: 'reduce_sum', inputs: [3], attributes: { axes: [0, 1] } },
      ],
      float(),
    );
    expect(plan.temporaries.find(({ value }) => value === 3)?.slot).toBe(0);
    expect(plan.temporaries.find(({ value }) => value === 2)?.slot).toBe(1);
  });
});
