import { UnsupportedError, UsageError } from '../../core/errors.ts';
import type { KernelSource } from '../../core/contracts/kernel-source.ts';
import { shortList } from '../../core/short-list.ts';
import type { VirtualMachine } from '../../runtime/virtual-machine.ts';
import type { HostedSession } from '../host/hosted-session.ts';
import type { Tool } from './tool.ts';

/** The code that the device of a session runs for a kernel. See `Session.kernelSource`. */
export const openTool =
  (hosted: HostedSession): Tool<{ readonly kernel: string }, unknown, KernelSource> =>
  async ({ kernel }) => ({ answer: await kernelSource(hosted.machine, kernel) });

async function kernelSource(machine: VirtualMachine, name: string): Promise<KernelSource> {
  const { libraries } = machine.internals();
  for (const { kernels } of libraries) {
    const kernel = kernels?.get(name);
    if (kernel === undefined) continue;
    const source = await kernel.source?.();
    if (source !== undefined) return source;
    throw new UnsupportedError({
      where: 'kernelSource',
      got: `the kernel ${name} on a device that does not tell its code`,
      expected: 'a device that does',
    });
  }
  throw new UsageError({
    where: 'kernelSource',
    got: `the kernel ${JSON.stringify(name)}`,
    expected: `one of ${shortList(machine.executable.primitives.map((each) => each.name))}`,
  });
}
