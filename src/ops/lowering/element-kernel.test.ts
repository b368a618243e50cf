import { expect, test } from 'vitest';
import { plannerCaps } from '../../testing/planner-caps.ts';
import { invocationGrid } from './element-kernel.ts';

test.each([64, 32])(
  'a grid folded into rows numbers its invocations without a gap, in workgroups of %i',
  (groupSize) => {
    const caps = plannerCaps('software', { maxComputeWorkgroupsPerDimension: 3 });
    const { params, workgroupSize, workgroups } = invocationGrid(400, caps, groupSize);
    const width = workgroups[0] * workgroupSize[0];
    expect(workgroups[1]).toBeGreaterThan(1);
    const numbers = Array.from({ length: workgroups[1] }, (_, y) =>
      Array.from({ length: width }, (__, x) => x + y * params.row_length.value),
    ).flat();
    expect(numbers).toEqual([...numbers.keys()]);
    expect(numbers.length).toBeGreaterThanOrEqual(params.count.value);
  },
);
