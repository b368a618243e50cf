import { describe, expect, test } from 'vitest';
import type { PlannerCaps } from '../../core/contracts/launch-plan.ts';
import { laneTree } from './lane-tree.ts';
import { plannerCaps } from '../../testing/planner-caps.ts';

const CAPS = plannerCaps('discrete', { subgroups: true, subgroupMinSize: 32 });

describe('lanes of a row are joined', () => {
  test.each<[string, number, Partial<PlannerCaps>, number]>([
    ['by subgroups first', 256, {}, 32],
    ['by subgroups alone', 32, {}, 32],
    ['by small subgroups', 64, { subgroupMinSize: 4 }, 4],
    ['by no more lanes than a row has', 64, { subgroupMinSize: 128 }, 64],
    ['through memory without subgroups', 64, { subgroups: false }, 1],
    ['through memory on software adapters', 64, { adapterClass: 'software' }, 1],
  ])('%s', (_, lanes, caps, near) => {
    const { source, enables, constants } = laneTree(lanes, { ...CAPS, ...caps });
    expect(constants).toEqual({ LANES: lanes, NEAR: near });
    expect(enables).toEqual(near > 1 ? ['subgroups'] : []);
    expect(source.match(/subgroupShuffleXor/g)?.length ?? 0).toBe(Math.log2(near));
  });
});
