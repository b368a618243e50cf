import { WeftError } from '../../../core/errors.ts';
import type { Launch } from '../../../core/contracts/launch-plan.ts';
import type { PrimitiveFunction } from '../../../core/contracts/primitive-function.ts';
import { realLaunches } from './compiled-plan.ts';
import type { KernelPlanner } from './kernel-planner.ts';
import type { CallShapes } from '../../../core/contracts/call-shapes.ts';
import {
  contrastingShapes,
  hasOnlySymbols,
  representativeShapes,
} from '../../representative-shapes.ts';

export { hasOnlySymbols };

/** The launches of a primitive for all sizes, as far as two samples tell. */
export function launchesOfAll(primitive: PrimitiveFunction, planner: KernelPlanner): Launch[] {
  const [some = [], others = []] = contrastingShapes(primitive).map((shapes) =>
    launchesFor(primitive, shapes, planner),
  );
  return some.filter(({ code }) => others.some((other) => other.code === code));
}

/** Launches with different code for samples of sizes. */
export function launchesOfSamples(primitive: PrimitiveFunction, planner: KernelPlanner): Launch[] {
  const launches = (differing: boolean) =>
    representativeShapes(primitive, { differing }).flatMap((shapes) =>
      launchesFor(primitive, shapes, planner),
    );
  const alike = launches(false);
  const all = alike.length > 0 ? alike : launches(true);
  return [...new Map(all.map((launch) => [launch.code, launch])).values()];
}

function launchesFor(
  primitive: PrimitiveFunction,
  shapes: CallShapes,
  planner: KernelPlanner,
): readonly Launch[] {
  const plan = unlessRefused(() => planner.plan(primitive, shapes));
  return plan === undefined ? [] : realLaunches(plan);
}

/** Dimensions that were made up need not fit each other; of real ones the call itself complains. */
export function unlessRefused<T>(plan: () => T): T | undefined {
  try {
    return plan();
  } catch (error) {
    if (error instanceof WeftError) return undefined;
    throw error;
  }
}
