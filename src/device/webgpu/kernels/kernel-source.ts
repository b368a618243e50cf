import type { CallShapes } from '../../../core/contracts/call-shapes.ts';
import type { KernelSource } from '../../../core/contracts/kernel-source.ts';
import type { PrimitiveFunction } from '../../../core/contracts/primitive-function.ts';
import { sourceShapes } from '../../source-shapes.ts';
import { realLaunches } from './compiled-plan.ts';
import type { KernelPlanner } from './kernel-planner.ts';

/** The shaders of a kernel, planned again as its calls have them. Throws UnsupportedError as planning does. */
export function webGpuSource(
  primitive: PrimitiveFunction,
  latest: CallShapes | undefined,
  planner: KernelPlanner,
): KernelSource {
  const { sizes, ...shapes } = sourceShapes(primitive, latest);
  const launches = realLaunches(planner.plan(primitive, shapes));
  return {
    kernel: primitive.name,
    language: 'wgsl',
    shapes: [...shapes.params, ...shapes.results],
    sizes,
    parts: launches.map(({ label, code, workgroups }) => ({ label, code, workgroups })),
  };
}
