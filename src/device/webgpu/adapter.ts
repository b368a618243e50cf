import { DeviceError } from '../../core/errors.ts';
import type { AdapterClass, PlannerCaps } from '../../core/launch-plan.ts';
import type { DeviceInfo } from '../device.ts';

export interface AdapterOptions {
  /** `navigator.gpu`, or what the `webgpu` package creates in Node. */
  readonly gpu: GPU | undefined;
  /** Overrides what the adapter is taken for, so that its kernels can be tested elsewhere. */
  readonly adapterClass?: AdapterClass | undefined;
  readonly powerPreference?: GPUPowerPreference | undefined;
}

export interface OpenedAdapter {
  readonly device: GPUDevice;
  readonly info: DeviceInfo;
  readonly caps: PlannerCaps;
  readonly hasTimestamps: boolean;
}

/** Features that kernels or profiles use where the adapter has them. */
const WANTED_FEATURES: readonly GPUFeatureName[] = ['timestamp-query', 'subgroups', 'shader-f16'];

/** Limits whose defaults are far below what adapters have. */
const WANTED_LIMITS = [
  'maxBufferSize',
  'maxStorageBufferBindingSize',
  'maxStorageBuffersPerShaderStage',
  'maxUniformBufferBindingSize',
  'maxComputeWorkgroupStorageSize',
  'maxComputeInvocationsPerWorkgroup',
  'maxComputeWorkgroupSizeX',
  'maxComputeWorkgroupSizeY',
  'maxComputeWorkgroupSizeZ',
  'maxComputeWorkgroupsPerDimension',
] as const;

/** Requests the adapter and a device with its real limits. Throws DeviceError. */
export async function openAdapter(options: AdapterOptions): Promise<OpenedAdapter> {
  const adapter = await requestAdapter(options);
  const features = WANTED_FEATURES.filter((feature) => adapter.features.has(feature));
  const requiredLimits: Record<string, number> = {};
  for (const limit of WANTED_LIMITS) requiredLimits[limit] = adapter.limits[limit];
  let device: GPUDevice;
  try {
    device = await adapter.requestDevice({
      label: 'weft',
      requiredFeatures: features,
      requiredLimits,
    });
  } catch (cause) {
    throw new DeviceError(
      {
        where: `WebGPU adapter ${adapterName(adapter.info)}`,
        got: `no device (${cause instanceof Error ? cause.message : String(cause)})`,
        expected: 'one with the limits that the adapter offers',
        remedy: 'Reload the page; after a crash of the GPU process the browser may need a restart.',
      },
      { cause },
    );
  }
  return describe(adapter, device, options.adapterClass ?? classifyAdapter(adapter.info));
}

async function requestAdapter({ gpu, powerPreference }: AdapterOptions): Promise<GPUAdapter> {
  if (gpu === undefined) {
    throw new DeviceError({
      where: 'WebGPU',
      got: 'no `gpu` object',
      expected: '`navigator.gpu`',
      remedy: 'Use a browser with WebGPU over https or localhost, or the host device.',
    });
  }
  const adapter = await gpu.requestAdapter(
    powerPreference === undefined ? {} : { powerPreference },
  );
  if (adapter === null) {
    throw new DeviceError({
      where: 'WebGPU',
      got: 'no adapter',
      expected: 'a GPU or a software adapter',
      remedy:
        'Look at chrome://gpu; on Linux WebGPU may need --enable-unsafe-webgpu. The host device works everywhere.',
    });
  }
  return adapter;
}

function describe(
  adapter: GPUAdapter,
  device: GPUDevice,
  adapterClass: AdapterClass,
): OpenedAdapter {
  const { info } = adapter;
  const { limits, features } = device;
  const subgroups = features.has('subgroups');
  return {
    device,
    hasTimestamps: features.has('timestamp-query'),
    info: {
      name: adapterName(info),
      vendor: info.vendor,
      architecture: info.architecture,
      adapterClass,
      maxBufferByteLength: limits.maxBufferSize,
    },
    caps: {
      adapterClass,
      subgroups,
      subgroupMinSize: subgroups ? (info.subgroupMinSize ?? 0) : 0,
      shaderF16: features.has('shader-f16'),
      maxStorageBuffersPerShaderStage: limits.maxStorageBuffersPerShaderStage,
      maxComputeWorkgroupStorageSize: limits.maxComputeWorkgroupStorageSize,
      maxComputeInvocationsPerWorkgroup: limits.maxComputeInvocationsPerWorkgroup,
      maxComputeWorkgroupsPerDimension: limits.maxComputeWorkgroupsPerDimension,
      maxStorageBufferBindingSize: limits.maxStorageBufferBindingSize,
    },
  };
}

/** What a browser tells of an adapter; most hide the description. */
export type AdapterIdentity = Pick<
  GPUAdapterInfo,
  'vendor' | 'architecture' | 'device' | 'description' | 'isFallbackAdapter'
>;

const SOFTWARE = /swiftshader|llvmpipe|lavapipe|softpipe|warp|basic render/i;
/** Intel's discrete cards report architectures of their own. */
const INTEL_DISCRETE = /^(gen-12hp|xe-hpg|xe-2hpg|xe-3hpg)$/;

/**
 * Which family of kernels suits an adapter. Unknown vendors count as integrated, whose kernels
 * ask least of the hardware; Apple's GPUs run the kernels of discrete ones best.
 */
export function classifyAdapter(info: AdapterIdentity): AdapterClass {
  const words = `${info.vendor} ${info.architecture} ${info.device} ${info.description}`;
  if (info.isFallbackAdapter || SOFTWARE.test(words)) return 'software';
  switch (info.vendor) {
    case 'nvidia':
    case 'amd':
    case 'apple':
      return 'discrete';
    case 'intel':
      return INTEL_DISCRETE.test(info.architecture) ? 'discrete' : 'integrated';
    default:
      return 'integrated';
  }
}

/** The most telling name that the browser gives away. */
export function adapterName(info: AdapterIdentity): string {
  if (/swiftshader/i.test(`${info.architecture} ${info.description}`)) return 'SwiftShader';
  const name = info.description || info.device || `${info.vendor} ${info.architecture}`.trim();
  return name === '' ? 'an unnamed adapter' : name;
}
