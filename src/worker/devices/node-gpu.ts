import { DeviceError } from '../../core/errors.ts';
import { nodeBuiltin } from '../../core/node-builtin.ts';
import { once } from '../../core/once.ts';

interface DawnPackage {
  create(flags: readonly string[]): GPU;
}

/** Calls at work: the environment is that of the process. */
let workCount = 0;

/**
 * Does `work` with the WebGPU of the `webgpu` package (Dawn), which Node has only where it was
 * installed. Rejects with DeviceError where it was not.
 */
export async function withNodeGpu<T>(work: (gpu: GPU) => Promise<T>): Promise<T> {
  const gpu = nodeGpu();
  const { env } = process;
  // Vulkan's layers complain on the standard error stream where it is not set.
  if (env['XDG_RUNTIME_DIR'] === undefined || workCount > 0) {
    workCount++;
    env['XDG_RUNTIME_DIR'] ??= '/tmp';
  }
  const isSet = workCount > 0;
  try {
    return await work(gpu);
  } finally {
    if (isSet && --workCount === 0) delete env['XDG_RUNTIME_DIR'];
  }
}

const nodeGpu = once((): GPU => {
  try {
    if (nodeBuiltin === undefined) throw new Error('no modules of Node');
    const require = nodeBuiltin('node:module').createRequire(import.meta.url);
    return (require('webgpu') as DawnPackage).create([]);
  } catch (cause) {
    const isMissing = (cause as { readonly code?: unknown }).code === 'MODULE_NOT_FOUND';
    throw new DeviceError(
      {
        where: 'WebGPU in Node',
        got: isMissing ? 'no package "webgpu"' : `a package "webgpu" that fails: ${String(cause)}`,
        expected: 'the package "webgpu" (Dawn)',
        remedy: 'Run `npm install webgpu`, or use the host device.',
      },
      { cause },
    );
  }
});
