import type { Device } from '../../../src/device/device.ts';
import { compile, OPTIONAL_PASSES } from '../../../src/compiler/compile.ts';
import { parseModule } from '../../../src/compiler/ir/text/parse.ts';
import { plainValue } from '../../../src/compiler/testing/load-program.ts';
import { TypeCheckError } from '../../../src/core/errors.ts';
import { HostTensor } from '../../../src/core/tensor/host-tensor.ts';
import { createHostDevice } from '../../../src/device/host/host-device.ts';
import { VirtualMachine } from '../../../src/runtime/virtual-machine.ts';
import type { RandomProgram } from './random-program.ts';

/** How a program went: it gave the same in all ways, or inference refused it in all of them. */
type ProgramOutcome = 'same' | 'refused' | { readonly difference: string };

/**
 * Compares what a program gives on the host without optional passes with what it gives optimised, on the host and
 * on devices. Each pass is verified.
 */
export async function runProgram(
  program: RandomProgram,
  devices: readonly Device[],
): Promise<ProgramOutcome> {
  const plain = await outcomeOf(program, { device: createHostDevice(), isOptimised: false });
  for (const device of [createHostDevice(), ...devices]) {
    const outcome = await outcomeOf(program, { device, isOptimised: true });
    if (outcome !== plain) {
      return { difference: `${device.kind}: got ${outcome}, expected ${plain}` };
    }
  }
  if (plain.startsWith(REFUSED)) return 'refused';
  return plain.startsWith(FAILED) ? { difference: plain } : 'same';
}

const FAILED = 'an error: ';
const REFUSED = 'refused: ';

async function outcomeOf(
  { text, vector, int }: RandomProgram,
  { device, isOptimised }: { readonly device: Device; readonly isOptimised: boolean },
): Promise<string> {
  try {
    const without = isOptimised ? [] : OPTIONAL_PASSES;
    const executable = compile(parseModule(text), { verify: true, without });
    const vm = await VirtualMachine.create(executable, { devices: [device, createHostDevice()] });
    const result = await vm.get('main')(HostTensor.from('float32', [vector.length], vector), int);
    const plain = JSON.stringify(await plainValue(vm, result));
    vm.release(result);
    vm.dispose();
    return plain;
  } catch (thrown) {
    if (thrown instanceof TypeCheckError) return `${REFUSED}${thrown.message}`;
    return `${FAILED}${thrown instanceof Error ? thrown.message : String(thrown)}`;
  }
}

/** The program without the lines that a difference of the same kind needs not. */
export async function shrinkProgram(
  program: RandomProgram,
  isWanted: (candidate: RandomProgram) => Promise<boolean>,
): Promise<RandomProgram> {
  let smallest = program;
  for (let isSmaller = true; isSmaller; ) {
    isSmaller = false;
    for (let at = smallest.text.split('\n').length - 1; at >= 0; at--) {
      const text = smallest.text.split('\n').toSpliced(at, 1).join('\n');
      if (!(await isWanted({ ...smallest, text }))) continue;
      smallest = { ...smallest, text };
      isSmaller = true;
    }
  }
  return smallest;
}
