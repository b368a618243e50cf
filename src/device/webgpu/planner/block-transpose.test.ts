import { expect, test } from 'vitest';
import type { LaunchPlan } from '../../../core/contracts/launch-plan.ts';
import type { OperatorCall } from '../../../core/contracts/primitive-function.ts';
import type { Shape } from '../../../core/tensor/shape.ts';
import { CORE_OPERATORS } from '../../../ops/tables/core-operators.ts';
import { chooseBlockTile } from './plan-map-step.ts';
import { plan } from './plan.ts';
import { plannerCaps } from '../../../testing/planner-caps.ts';

const CAPS = plannerCaps('software');

function planned(shapes: readonly Shape[], body: readonly OperatorCall[], to: Shape): LaunchPlan {
  const params = shapes.map((shape) => ({ dtype: 'float32', shape }) as const);
  const value = params.length + body.length - 1;
  const results = [{ value, type: { dtype: 'float32', shape: to } as const }];
  const primitive = { name: 'turned', params, body, results };
  return plan(
    primitive,
    { params: shapes, results: [to] },
    { caps: CAPS, operators: CORE_OPERATORS },
  );
}

const transpose = (perm: readonly number[], input = 0) =>
  ({ op: 'transpose', inputs: [input], attributes: { perm: [...perm] } }) as const;

test.each<[Shape, readonly number[], boolean]>([
  [[8, 12], [1, 0], true],
  [[8, 13], [1, 0], false],
  [[6, 12], [1, 0], false],
  [[3, 8, 12], [0, 2, 1], true],
  [[3, 8, 12], [1, 0, 2], false],
  [[2, 4, 3, 4], [0, 2, 3, 1], true],
  [[2, 3, 4, 8], [0, 3, 1, 2], true],
  [[2, 4, 4, 8], [0, 2, 1, 3], false],
  [[4, 1, 1, 8], [3, 1, 0, 2], true],
  [[4, 4, 4], [2, 1, 0], false],
  [[4, 4], [0, 1], false],
])('%j by %j in blocks: %s', (shape, perm, isInBlocks) => {
  const to = perm.map((axis) => shape[axis] ?? 1);
  const [launch] = planned([shape], [transpose(perm)], to).launches;
  expect(launch?.code.includes('turned')).toBe(isInBlocks);
});

test('what surrounds a transpose is computed with it, group by group', () => {
  const { launches } = planned(
    [
      [8, 12],
      [12, 8],
    ],
    [
      { op: 'relu', inputs: [0], attributes: {} },
      transpose([1, 0], 2),
      { op: 'add', inputs: [3, 1], attributes: {} },
    ],
    [12, 8],
  );
  expect(launches).toHaveLength(1);
  expect(launches[0]?.code).toMatchSnapshot();
});

test('sizes are parameters', () => {
  const code = (shape: Shape) =>
    planned([shape], [transpose([1, 0])], shape.toReversed()).launches[0]?.code;
  expect(code([640, 1280])).toBe(code([4, 8]));
});

test.each([
  ['software', 2048, 2048, { rows: 1, columns: 4, steps: 16 }],
  ['software', 64, 64, { rows: 1, columns: 4, steps: 1 }],
  ['software', 16, 65_536, { rows: 1, columns: 4, steps: 4 }],
  ['integrated', 2048, 2048, { rows: 8, columns: 8, steps: 1 }],
  ['discrete', 2048, 2048, { rows: 8, columns: 8, steps: 1 }],
] as const)('%s adapters turn %d x %d in such tiles', (adapterClass, rows, columns, expected) => {
  expect(chooseBlockTile({ batch: 1, rows, columns }, { ...CAPS, adapterClass })).toEqual(expected);
});
