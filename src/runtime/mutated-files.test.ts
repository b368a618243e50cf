import { expect, test } from 'vitest';
import { readExecutable } from '../bytecode/file/executable-file.ts';
import type { ExecutableData } from '../bytecode/executable.ts';
import { type FileParts, putTogether, takeApart } from '../bytecode/testing/file-surgery.ts';
import { WeftError } from '../core/errors.ts';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import { seededRandom } from '../core/random.ts';
import { createHostDevice } from '../device/host/host-device.ts';
import { countingLoop, sumAndProduct } from '../worker/testing/test-programs.ts';
import type { HostInput } from './link/host-function.ts';
import { VirtualMachine } from './virtual-machine.ts';

const FILE_COUNT = 6000;
/** Functions, code, function table, constants, primitives, shape programs. */
const PROGRAM_SECTION_COUNT = 6;

type Random = (limit: number) => number;

/** Changes a few bytes of a program. */
function mutate({ sections }: FileParts, random: Random): void {
  for (let changes = 1 + random(3); changes > 0; changes--) {
    const bytes = sections[random(PROGRAM_SECTION_COUNT)]?.bytes ?? new Uint8Array(0);
    const at = random(bytes.length);
    const byte = bytes[at];
    if (byte === undefined) continue;
    bytes[at] = [random(256), 0, byte + 1, byte ^ (1 << random(8))][random(4)] ?? 0;
  }
}

function argumentsOf({ paramNames, signature }: ExecutableData['functions'][number]): HostInput[] {
  return paramNames.map((_, index) => {
    const type = signature?.params[index];
    if (type?.kind !== 'tensor') return 5;
    const shape = type.shape.map((dim) => (typeof dim === 'number' ? Math.min(dim, 64) : 3));
    return HostTensor.splat(type.dtype, shape, 1);
  });
}

/** Runs all functions; the name of the error that ended it, or `ok`. */
async function outcome(file: Uint8Array): Promise<string> {
  const device = createHostDevice({ byteBudget: 2 ** 26 });
  let vm: VirtualMachine | undefined;
  try {
    const { program, data } = readExecutable(file);
    vm = await VirtualMachine.create(
      { ...program, data },
      { devices: [device], limits: { instructions: 5000 }, log: () => undefined },
    );
    for (const fn of program.functions) {
      vm.release(await vm.invoke(fn.name, argumentsOf(fn)));
    }
    return 'ok';
  } catch (error) {
    if (!(error instanceof WeftError)) throw error;
    expect(error.message).not.toMatch(/internal|stack size|Array buffer|Invalid typed/);
    return error.name;
  } finally {
    if (vm !== undefined) expect(vm.memory().liveBytes).toBe(0);
    vm?.dispose();
    expect(device.counters().bytesLive).toBe(0);
  }
}

test(`${FILE_COUNT} files with changed programs and right hashes run or fail with typed errors`, async () => {
  const next = seededRandom(20);
  const random: Random = (limit) => Math.floor(next() * limit);
  const files = [sumAndProduct(), countingLoop()].map((executable) => executable.toBytes());
  const outcomes = new Set<string>();
  for (let i = 0; i < FILE_COUNT; i++) {
    const parts = takeApart(files[i % files.length] ?? new Uint8Array(0));
    mutate(parts, random);
    outcomes.add(await outcome(putTogether(parts)));
  }
  expect([...outcomes].sort()).toMatchInlineSnapshot(`
    [
      "FormatError",
      "RuntimeError",
      "ShapeError",
      "UnsupportedError",
      "UsageError",
      "VerifyError",
      "ok",
    ]
  `);
});
