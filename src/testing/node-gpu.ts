import { DeviceError } from '../core/errors.ts';
import { keepPipelines } from './keep-pipelines.ts';
import { pausePolls } from './pause-polls.ts';

let created: Promise<GPU> | undefined;

/**
 * Dawn's `gpu` object in Node. Throws DeviceError that says what is missing: the optional `webgpu`
 * package, or a Vulkan driver (`VK_ICD_FILENAMES`; Chromium brings SwiftShader's).
 */
export function nodeGpu(): Promise<GPU> {
  created ??= openNodeGpu();
  return created;
}

async function openNodeGpu(): Promise<GPU> {
  const { create, globals } = await import('webgpu').catch((cause: unknown) => {
    throw new DeviceError(
      {
        where: 'WebGPU in Node',
        got: `no usable \`webgpu\` package (${cause instanceof Error ? cause.message : String(cause)})`,
        expected: 'the optional dependency that brings Dawn',
        remedy: 'Run `npm install webgpu`.',
      },
      { cause },
    );
  });
  Object.assign(globalThis, globals);
  pausePolls();
  const gpu = create([]);
  if ((await gpu.requestAdapter()) === null) {
    throw new DeviceError({
      where: 'WebGPU in Node',
      got: `no adapter (VK_ICD_FILENAMES is ${process.env.VK_ICD_FILENAMES ?? 'not set'})`,
      expected: 'a Vulkan driver, Metal or Direct3D 12',
      remedy:
        'Start through `node scripts/with-gpu.mjs`, which finds the SwiftShader of an installed Chromium; `npm test` installs one.',
    });
  }
  return gpu;
}

let shared: Promise<GPU> | undefined;

/**
 * The same, with one device for all who ask: the files of a worker share it, and each pipeline that one of them
 * compiled. To destroy it leaves it to the others. Not for tests that lose or exhaust a device.
 */
export function sharedNodeGpu(): Promise<GPU> {
  shared ??= nodeGpu().then(shareDevice);
  return shared;
}

function shareDevice(gpu: GPU): GPU {
  let opening: Promise<GPUDevice> | undefined;
  const requestAdapter: GPU['requestAdapter'] = async (options) => {
    const adapter = await gpu.requestAdapter(options);
    if (adapter === null) return null;
    const request = adapter.requestDevice.bind(adapter);
    adapter.requestDevice = (descriptor) => {
      opening ??= request(descriptor).then((device) => {
        keepPipelines(device);
        device.destroy = () => undefined;
        return device;
      });
      return opening;
    };
    return adapter;
  };
  return new Proxy(gpu, {
    get: (target, name) =>
      name === 'requestAdapter' ? requestAdapter : (Reflect.get(target, name, target) as unknown),
  });
}
