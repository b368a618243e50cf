import type { ExecutableData } from '../../bytecode/executable.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { Device } from '../../device/device.ts';
import { createHostDevice } from '../../device/host/host-device.ts';
import {
  compareRuns,
  type LookIntoKernel,
  type RunComparison,
} from '../../runtime/compare/compare-runs.ts';
import { programRun } from '../../runtime/compare/machine-run.ts';
import type { WatchedRun } from '../../runtime/compare/watched-run.ts';
import {
  programInMemory,
  widenArgument,
  widenedDTypes,
  widenProgram,
} from '../../runtime/compare/widen-program.ts';
import type { Tool, WatchedProgram } from './tool.ts';
import { unfuseKernel } from './unfuse-kernel.ts';

export interface VerifyRequest {
  readonly functionName: string;
  readonly tolerance: number;
  /** A device of this side; undefined: the same in float32 on the host. */
  readonly against?: 'host' | 'wasm' | undefined;
}

/**
 * Runs a function of a program as it is, beside the same instructions in float32 on the host or as they are on another device
 * of this side, and compares what each kernel gives.
 */
export const openTool =
  (): Tool<VerifyRequest, WatchedProgram, RunComparison> => async (request, program) => {
    const args = await program.readArguments();
    return program.exclude(async () => {
      const constants = await program.readConstants();
      return { answer: await verify(request, { ...program, args, constants }) };
    });
  };

interface VerifiedProgram extends WatchedProgram {
  readonly args: readonly (HostTensor | number)[];
  readonly constants: ReadonlyMap<number, HostTensor>;
}

async function verify(
  { functionName, tolerance, against }: VerifyRequest,
  { executable, run, runOf, constants, args, signal }: VerifiedProgram,
): Promise<RunComparison> {
  const beside =
    against === undefined ? [createHostDevice()] : [await openBeside(against), createHostDevice()];
  const expectedRun = (
    program: ExecutableData,
    pool: ReadonlyMap<number, HostTensor>,
    inputs: readonly (HostTensor | number)[],
  ): WatchedRun =>
    against === undefined
      ? programRun({
          program: widenProgram(program, pool),
          options: { devices: beside, widened: widenedDTypes(program) },
          args: inputs.map(widenArgument),
        })
      : programRun({
          program: programInMemory(program, pool),
          options: { devices: beside },
          args: inputs,
        });
  const lookInto: LookIntoKernel = async (primitive, inputs, results) => {
    const program = unfuseKernel(primitive, inputs, results);
    if (program === undefined) return undefined;
    const [tested, expected] = [runOf(program, inputs), expectedRun(program, new Map(), inputs)];
    const { departure } = await compareRuns(
      'main',
      { program, tested, expected },
      { tolerance, signal },
    );
    if (departure === undefined) return undefined;
    const {
      call: index,
      relativeError,
      element,
      got,
      expected: wanted,
      nans,
      infinities,
    } = departure;
    const operator = primitive.body[index]?.op ?? '';
    const difference = { relativeError, element, got, expected: wanted, nans, infinities };
    return { index, operator, source: undefined, ...difference };
  };
  const expected = expectedRun(executable, constants, args);
  const runs = { program: executable, tested: run(args), expected };
  return compareRuns(functionName, runs, { tolerance, signal, lookInto });
}

/** A device for a comparison alone. */
async function openBeside(kind: 'host' | 'wasm'): Promise<Device> {
  if (kind === 'host') return createHostDevice();
  return (await import('../devices/open-wasm.ts')).openWasm({ threads: 1 });
}
