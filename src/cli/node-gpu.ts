import { UsageError } from '../core/errors.ts';

/** WebGPU in Node: the `webgpu` package (Dawn), which is installed only where it is wanted. */
export async function openNodeGpu(): Promise<GPU> {
  try {
    const { create, globals } = await import('webgpu');
    Object.assign(globalThis, globals);
    return create([]);
  } catch (cause) {
    throw new UsageError(
      {
        where: '--device webgpu',
        got: 'no WebGPU in Node',
        expected: 'the package "webgpu"',
        remedy: 'Run `npm install webgpu`, or use `--device host`.',
      },
      { cause },
    );
  }
}
