import { DeviceError } from '../../core/errors.ts';
import { nodeBuiltin } from '../../core/node-builtin.ts';

interface DawnPackage {
  create(flags: readonly string[]): GPU;
}

let opened: GPU | undefined;
let openCount = 0;

/**
 * Does `work` with the WebGPU of the `webgpu` package (Dawn), which Node has only where it was
 * installed. Rejects with DeviceError where it was not.
 */
export async function withNodeGpu<T>(work: (gpu: GPU) => Promise<T>): Promise<T> {
  opened ??= openDawn();
  const { env } = process;
  // Vulkan's layers complain on the standard error stream where it is not set.
  if (env['XDG_RUNTIME_DIR'] === undefined || openCount > 0) {
    openCount++;
    env['XDG_RUNTIME_DIR'] ??= '/tmp';
  }
  const isSet = openCount > 0;
  try {
    return await work(opened);
  } finally {
    if (isSet && --openCount === 0) delete env['XDG_RUNTIME_DIR'];
  }
}

function openDawn(): GPU {
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
}
