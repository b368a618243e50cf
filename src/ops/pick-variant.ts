import type { PlannerCaps } from '../core/launch-plan.ts';

/**
 * The variant of a kernel that a measured choice names, else the first. `key` tells the place in a plan;
 * `others` gives further reasonable ones by name, and is only asked when there are choices.
 */
export function pickVariant<T>(
  { choices }: PlannerCaps,
  key: string,
  { first, others }: { readonly first: T; readonly others: () => ReadonlyMap<string, T> },
): T {
  if (choices === undefined) return first;
  const variants = others();
  return variants.get(choices.get(key, [...variants.keys()]) ?? '') ?? first;
}
