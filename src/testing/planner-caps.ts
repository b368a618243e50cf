import type { AdapterClass, PlannerCaps } from '../core/contracts/launch-plan.ts';

/** An adapter with the limits that WebGPU guarantees, without subgroups, but for what `more` says. */
export function plannerCaps(
  adapterClass: AdapterClass,
  more: Partial<PlannerCaps> = {},
): PlannerCaps {
  return {
    adapterClass,
    subgroups: false,
    subgroupMinSize: 0,
    shaderF16: false,
    maxStorageBuffersPerShaderStage: 8,
    maxComputeWorkgroupStorageSize: 16_384,
    maxComputeInvocationsPerWorkgroup: 256,
    maxComputeWorkgroupsPerDimension: 65_535,
    maxStorageBufferBindingSize: 2 ** 27,
    ...more,
  };
}
