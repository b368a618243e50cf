import { UnsupportedError } from '../../../core/errors.ts';
import type { LaunchPlan } from '../../../core/contracts/launch-plan.ts';
import { programKernels } from '../../../ops/program/wgsl-kernel.ts';
import type { KernelPlanner } from './kernel-planner.ts';

/** A planner that refuses launches of a program's own WGSL with more workgroups than that. */
export function limitWorkgroups(planner: KernelPlanner, workgroupLimit: number): KernelPlanner {
  return {
    ...planner,
    get measured() {
      return planner.measured;
    },
    set measured(choices) {
      planner.measured = choices;
    },
    plan(primitive, shapes, choices) {
      const plan = planner.plan(primitive, shapes, choices);
      if (programKernels(primitive).length > 0) checkGrids(plan, workgroupLimit);
      return plan;
    },
  };
}

function checkGrids({ launches }: LaunchPlan, workgroupLimit: number): void {
  for (const { label, workgroups } of launches) {
    const count = workgroups.reduce((product, size) => product * size, 1);
    if (count <= workgroupLimit) continue;
    throw new UnsupportedError(
      {
        where: `kernel ${label}`,
        got: `a grid of ${workgroups.join(' x ')}, ${count} workgroups`,
        expected: `at most ${workgroupLimit}, the workgroupLimit`,
      },
      { details: { kernel: label, workgroups: count, workgroupLimit } },
    );
  }
}
