import type { Clock } from '../../core/async/clock.ts';
import { withinTime } from '../../core/async/until-aborted.ts';
import type { AdapterClass, PlannerCaps } from '../../core/contracts/launch-plan.ts';
import { DeviceError } from '../../core/errors.ts';
import { nodeBuiltin } from '../../core/node-builtin.ts';
import type { DeviceInfo } from '../device.ts';
import { adapterName, classifyAdapter, requestAdapter, vendorName } from './adapter-identity.ts';
import { DEFAULT_DEVICE_TIMEOUT_MS } from './faults/device-watchdog.ts';
import type { JoinPage } from './page/page-hooks.ts';
import { isAnyDeviceStuck } from './faults/unfinished-devices.ts';

export interface AdapterOptions {
  /** `navigator.gpu`, or what the `webgpu` package creates in Node. */
  readonly gpu: GPU | undefined;
  /** Overrides what the adapter is taken for, so that its kernels can be tested elsewhere. */
  readonly adapterClass?: AdapterClass | undefined;
  readonly powerPreference?: GPUPowerPreference | undefined;
  /** Milliseconds until an adapter and a device must be there. Default 30,000. */
  readonly deviceTimeout?: number | undefined;
  /** @internal */
  readonly clock?: Clock | undefined;
}

export interface OpenedAdapter {
  readonly device: GPUDevice;
  readonly info: DeviceInfo;
  readonly caps: PlannerCaps;
  readonly hasTimestamps: boolean;
  /** Adds the methods of a device that is the page's own. */
  readonly join?: JoinPage;
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

const [STUCK, RESTART] =
  nodeBuiltin === undefined
    ? ["the browser's GPU process", 'Restart the browser, or use the host device.']
    : ["the GPU's driver", 'Restart this process, or use the host device.'];

interface Opened {
  readonly adapter: GPUAdapter;
  readonly device: GPUDevice;
}

/** How long a load waits at most when others waited in vain. */
const DOUBTFUL_TIMEOUT_MS = 2000;

/** Devices that did not come in time. Whoever asks next waits for the same one. */
const overdue = new Map<GPU | undefined, Promise<Opened>>();

/** Requests the adapter and a device with its real limits. Throws DeviceError, also when neither comes. */
export async function openAdapter(options: AdapterOptions): Promise<OpenedAdapter> {
  const { gpu, deviceTimeout = DEFAULT_DEVICE_TIMEOUT_MS } = options;
  const known = overdue.get(gpu);
  overdue.delete(gpu);
  const opening = known ?? open(options);
  const isDoubtful = known !== undefined || isAnyDeviceStuck();
  const timeoutMs = isDoubtful ? Math.min(deviceTimeout, DOUBTFUL_TIMEOUT_MS) : deviceTimeout;
  const late = (): DeviceError => {
    overdue.set(gpu, opening);
    void discardLate(gpu, opening);
    return noAnswer(timeoutMs);
  };
  const { adapter, device } = await withinTime(opening, { timeoutMs, late, clock: options.clock });
  return describeDevice(device, adapter.info, options.adapterClass);
}

/** Destroys a device that comes after all, unless somebody waits for it by then. */
async function discardLate(gpu: GPU | undefined, opening: Promise<Opened>): Promise<void> {
  const [outcome] = await Promise.allSettled([opening]);
  if (overdue.get(gpu) !== opening) return;
  overdue.delete(gpu);
  if (outcome.status === 'fulfilled') outcome.value.device.destroy();
}

async function open(options: AdapterOptions): Promise<Opened> {
  const adapter = await requestAdapter(options);
  const device = await requestDevice(adapter);
  if (isAnyDeviceStuck()) {
    const { probeDevice } = await import('./faults/probe-device.ts');
    await probeDevice(device);
  }
  return { adapter, device };
}

function noAnswer(timeoutMs: number): DeviceError {
  const reason = isAnyDeviceStuck() ? ' with a kernel that does not end' : '';
  return new DeviceError({
    where: 'WebGPU',
    got: `no working device in ${timeoutMs} ms: ${STUCK} is stuck${reason}`,
    expected: 'an adapter and a device',
    remedy: RESTART,
  });
}

async function requestDevice(adapter: GPUAdapter): Promise<GPUDevice> {
  const features = WANTED_FEATURES.filter((feature) => adapter.features.has(feature));
  const requiredLimits: Record<string, number> = {};
  for (const limit of WANTED_LIMITS) requiredLimits[limit] = adapter.limits[limit];
  try {
    return await adapter.requestDevice({
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
}

/** A device as kernels are planned for it. */
export function describeDevice(
  device: GPUDevice,
  info: GPUAdapterInfo,
  adapterClass: AdapterClass = classifyAdapter(info),
): OpenedAdapter {
  const { limits, features } = device;
  const subgroups = features.has('subgroups');
  return {
    device,
    hasTimestamps: features.has('timestamp-query'),
    info: {
      name: adapterName(info),
      vendor: vendorName(info),
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
