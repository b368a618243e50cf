import type { Executable } from '../bytecode/index.ts';
import { Session } from '../client/index.ts';
import type { KernelSource } from '../core/contracts/kernel-source.ts';
import { responseOf } from './open-session.ts';

/** The device that kernels are planned for, and the kernels to print. */
interface KernelSourceFlags {
  readonly device: 'auto' | 'host' | 'wasm' | 'webgpu';
  /** The name of a kernel; true: all of the program. */
  readonly kernels: string | true;
}

interface KernelSources {
  readonly device: string;
  readonly sources: readonly KernelSource[];
}

/**
 * The code that a device of this process runs for kernels of a program, none of which is run. Rejects with UsageError for
 * a kernel that the program does not have, and as `Session.load` does.
 */
export async function kernelSources(
  executable: Executable,
  { device, kernels }: KernelSourceFlags,
): Promise<KernelSources> {
  const names = kernels === true ? executable.primitives.map(({ name }) => name) : [kernels];
  const session = await Session.load(responseOf(executable), { worker: false, device });
  try {
    const sources: KernelSource[] = [];
    for (const name of names) sources.push(await session.kernelSource(name));
    return { device: session.device.name, sources };
  } finally {
    await session.dispose();
  }
}

const SIZES: Readonly<Record<KernelSource['sizes'], string>> = {
  fixed: 'the sizes of all calls',
  latest: 'the sizes of the latest call',
  sample: 'sizes that stand in for those of calls',
};

/** Code with a line in front of each kernel and of each of its launches or steps. */
export function formatKernelSources({ device, sources }: KernelSources): string {
  return sources.map((source) => formatSource(source, device)).join('\n');
}

function formatSource(
  { kernel, language, shapes, sizes, parts }: KernelSource,
  device: string,
): string {
  const of = shapes.map((shape) => `(${shape.join(', ')})`).join(', ');
  const head = `// kernel ${kernel} in ${language} on ${device}, for ${of}: ${SIZES[sizes]}\n`;
  const code = parts.map(({ label, code: text, workgroups }) => {
    const grid = workgroups === undefined ? '' : `, ${workgroups.join(' x ')} workgroups`;
    return `// ${label}${grid}\n${text.trimEnd()}\n`;
  });
  return [head, ...code].join('');
}
