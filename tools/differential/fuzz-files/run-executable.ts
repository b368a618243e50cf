import { readExecutable } from '../../../src/bytecode/file/executable-file.ts';
import type { ExecutableData } from '../../../src/bytecode/executable.ts';
import { HostTensor } from '../../../src/core/tensor/host-tensor.ts';
import { createHostDevice } from '../../../src/device/host/host-device.ts';
import type { HostInput } from '../../../src/runtime/link/host-function.ts';
import { VirtualMachine } from '../../../src/runtime/virtual-machine.ts';

const BYTE_BUDGET = 2 ** 22;
const LIMITS = { instructions: 5000, callDepth: 200, fields: 1 << 14, registers: 1 << 16 };
const MAX_FUNCTIONS = 16;
const SMALL_DIM = 3;
const MAX_DIM = 64;

function argumentsOf({ paramNames, signature }: ExecutableData['functions'][number]): HostInput[] {
  return paramNames.map((_, index) => {
    const type = signature?.params[index];
    if (type?.kind !== 'tensor') return 5;
    const shape = type.shape.map((dim) =>
      typeof dim === 'number' ? Math.min(dim, MAX_DIM) : SMALL_DIM,
    );
    const small = shape.reduce((count, dim) => count * dim, 1) <= 1 << 16;
    return HostTensor.splat(type.dtype, small ? shape : [], 1);
  });
}

/** Loads an executable on the host and calls its functions; the first error ends it. */
export async function runExecutable(bytes: Uint8Array): Promise<void> {
  const device = createHostDevice({ byteBudget: BYTE_BUDGET });
  let machine: VirtualMachine | undefined;
  try {
    const { program, data } = readExecutable(bytes);
    machine = await VirtualMachine.create(
      { ...program, data },
      { devices: [device], limits: LIMITS, byteBudget: BYTE_BUDGET, log: () => undefined },
    );
    for (const fn of program.functions.slice(0, MAX_FUNCTIONS)) {
      machine.release(await machine.invoke(fn.name, argumentsOf(fn)));
    }
  } finally {
    checkEmpty(machine?.memory().liveBytes ?? 0, 'live in the machine');
    machine?.dispose();
    checkEmpty(device.counters().bytesLive, 'left on the device');
  }
}

export function checkEmpty(byteLength: number, where: string): void {
  if (byteLength !== 0) throw new Error(`${byteLength} bytes are ${where}`);
}
