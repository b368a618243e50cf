import type { PlannerCaps } from '../../../core/contracts/launch-plan.ts';

/** A device of Dawn in Node, and what the planner has to know of it. */
export interface Gpu {
  readonly device: GPUDevice;
  readonly name: string;
  readonly caps: PlannerCaps;
}

/** Opens the first adapter. Throws when there is none: a benchmark never skips. */
export async function openGpu(adapterClass?: PlannerCaps['adapterClass']): Promise<Gpu> {
  const { create, globals } = await import('webgpu');
  Object.assign(globalThis, globals);
  // The instance has to outlive its adapters, or Dawn's threads crash.
  const gpu = create([]);
  Object.assign(globalThis, { dawnInstance: gpu });
  const adapter = await gpu.requestAdapter();
  if (adapter === null)
    throw new Error('no WebGPU adapter: Dawn found no Vulkan driver (VK_ICD_FILENAMES)');
  const { limits, info } = adapter;
  const hasSubgroups = adapter.features.has('subgroups');
  const device = await adapter.requestDevice({
    requiredFeatures: hasSubgroups ? ['subgroups'] : [],
    requiredLimits: {
      maxStorageBufferBindingSize: limits.maxStorageBufferBindingSize,
      maxBufferSize: limits.maxBufferSize,
      maxStorageBuffersPerShaderStage: limits.maxStorageBuffersPerShaderStage,
    },
  });
  const isSoftware = info.isFallbackAdapter || /swiftshader|llvmpipe/i.test(info.description);
  return {
    device,
    name: info.description || info.device,
    caps: {
      adapterClass: adapterClass ?? (isSoftware ? 'software' : 'discrete'),
      subgroups: hasSubgroups,
      subgroupMinSize: hasSubgroups ? info.subgroupMinSize : 0,
      shaderF16: false,
      maxStorageBuffersPerShaderStage: device.limits.maxStorageBuffersPerShaderStage,
      maxComputeWorkgroupStorageSize: device.limits.maxComputeWorkgroupStorageSize,
      maxComputeInvocationsPerWorkgroup: device.limits.maxComputeInvocationsPerWorkgroup,
      maxComputeWorkgroupsPerDimension: device.limits.maxComputeWorkgroupsPerDimension,
      maxStorageBufferBindingSize: device.limits.maxStorageBufferBindingSize,
    },
  };
}
