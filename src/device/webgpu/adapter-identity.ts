import type { AdapterClass } from '../../core/contracts/launch-plan.ts';
import { DeviceError } from '../../core/errors.ts';
import { nodeBuiltin } from '../../core/node-builtin.ts';

const NO_ADAPTER =
  nodeBuiltin === undefined
    ? 'Look at chrome://gpu; on Linux WebGPU may need --enable-unsafe-webgpu.'
    : 'Install a driver for Vulkan (on Debian mesa-vulkan-drivers), or name one in VK_DRIVER_FILES.';

/** Requests an adapter of `navigator.gpu`. Throws DeviceError where there is none. */
export async function requestAdapter({
  gpu,
  powerPreference,
}: {
  readonly gpu: GPU | undefined;
  readonly powerPreference?: GPUPowerPreference | undefined;
}): Promise<GPUAdapter> {
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
      remedy: `${NO_ADAPTER} The host device works everywhere.`,
    });
  }
  return adapter;
}

/** A browser's description of an adapter; most hide the description, Firefox hides everything. */
export type AdapterIdentity = Pick<
  GPUAdapterInfo,
  'vendor' | 'architecture' | 'device' | 'description' | 'isFallbackAdapter'
>;

/** Vendors by their numbers at PCI and Khronos, which wgpu gives outside of browsers. */
const VENDORS: Readonly<Record<string, string>> = {
  4098: 'amd',
  4112: 'img-tec',
  4203: 'apple',
  4318: 'nvidia',
  5045: 'arm',
  5140: 'microsoft',
  6880: 'google',
  20803: 'qualcomm',
  32902: 'intel',
  65541: 'mesa',
};

const SOFTWARE = /swiftshader|llvmpipe|lavapipe|softpipe|warp|basic render/i;
/** Intel's discrete cards report architectures of their own. */
const INTEL_DISCRETE = /^(gen-12hp|xe-hpg|xe-2hpg|xe-3hpg)$/;
/** Descriptions of what the kernels of discrete adapters suit, where the vendor says too little. */
const DISCRETE = /nvidia|geforce|radeon|^apple|intel.*\barc\b/i;

/** The vendor's name in lower case; empty where it is hidden or has no name here. */
export function vendorName({ vendor }: AdapterIdentity): string {
  return VENDORS[vendor] ?? (/^\d*$/.test(vendor) ? '' : vendor);
}

/**
 * Which family of kernels suits an adapter. Unknown vendors count as integrated, whose kernels
 * ask least of the hardware; Apple's GPUs run the kernels of discrete ones best.
 */
export function classifyAdapter(info: AdapterIdentity): AdapterClass {
  const words = `${info.vendor} ${info.architecture} ${info.device} ${info.description}`;
  if (info.isFallbackAdapter || SOFTWARE.test(words)) return 'software';
  const vendor = vendorName(info);
  const isDiscrete =
    ['nvidia', 'amd', 'apple'].includes(vendor) ||
    (vendor === 'intel' && INTEL_DISCRETE.test(info.architecture)) ||
    DISCRETE.test(info.description);
  return isDiscrete ? 'discrete' : 'integrated';
}

/** Engines as they name themselves; most name others as well, so the order matters. */
const ENGINES = /\b(Firefox|Deno|Chrome|Safari|Node)\b/;

/**
 * The most telling name that the engine gives away. Where it gives none, its own name stands before
 * the kind of adapter.
 */
export function adapterName(
  info: AdapterIdentity,
  userAgent: string = globalThis.navigator?.userAgent ?? '',
): string {
  if (/swiftshader/i.test(`${info.architecture} ${info.description}`)) return 'SwiftShader';
  const device = /^\d*$/.test(info.device) ? '' : info.device;
  const name = info.description || device || `${vendorName(info)} ${info.architecture}`.trim();
  if (name !== '') return name;
  const kind = info.isFallbackAdapter ? 'software' : 'WebGPU';
  const engine = ENGINES.exec(userAgent)?.[1];
  return engine === undefined ? `${kind} adapter` : `${kind} adapter of ${engine}`;
}
