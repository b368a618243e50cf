import { timeKernels } from './time-kernels.ts';

/** `[--bundle DIR]`, or the arguments of {@link timeKernels}. */
export async function main(args: readonly string[]): Promise<number> {
  if (!args.includes('--bundle')) return timeKernels(args);
  const folder = args[args.indexOf('--bundle') + 1];
  if (folder === undefined) {
    console.error('--bundle needs a folder');
    return 2;
  }
  const { bundleKernels } = await import('./bundle-kernels.ts');
  await bundleKernels(folder);
  return 0;
}
