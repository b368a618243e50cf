import type { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { seededRandom } from '../../../core/random.ts';
import type { Device } from '../../../device/device.ts';
import { createHostDevice } from '../../../device/host/host-device.ts';
import { numberElements } from '../../../ops/elements.ts';
import { isFloat } from '../../../ops/elementwise/number-dtypes.ts';
import type { HostFunction, HostInput } from '../../../runtime/link/host-function.ts';
import { AdtValue, TensorValue, type Value } from '../../../runtime/values/value.ts';
import { VirtualMachine } from '../../../runtime/virtual-machine.ts';
import { compile, type CompileOptions, type Executable, OPTIONAL_PASSES } from '../../compile.ts';
import {
  type GradientProgram,
  hasTangent,
  type ProgramFloat,
  valueOf,
  withGradient,
  withTangents,
} from './gradient-program.ts';

/** The errors of the derivatives of a program, relative to their size where that is above 1. */
interface ProgramErrors {
  /** The error of the gradient, against central differences. */
  readonly differences: number;
  /**
   * The error of forward mode against the gradient; undefined where forward mode does not know the
   * program.
   */
  readonly modes: number | undefined;
}

const STEP = 1e-5;

const DERIVED = { gradient: withGradient, tangents: withTangents };

/** A program with its derivatives by central differences, in double precision and not optimised. */
export class ProgramDerivatives {
  readonly #program: GradientProgram;
  /** The derivatives, in the order of the floats in the arguments. */
  readonly expected: readonly number[];
  /** Compiled once for all devices. */
  readonly #executables = new Map<string, Executable>();

  private constructor(program: GradientProgram, expected: readonly number[]) {
    this.#program = program;
    this.expected = expected;
  }

  static async of(program: GradientProgram): Promise<ProgramDerivatives> {
    const host = createHostDevice();
    const options = { without: OPTIONAL_PASSES };
    const executable = compile(program.module('float64'), options);
    const machine = await openProgram(executable, { program, host });
    const at = async (moved: number, by: number): Promise<number> => {
      let count = 0;
      const change = (value: number) => value + (count++ === moved ? by : 0);
      const args = program.args.map((arg) => valueOf(arg, 'float64', change));
      const [value = NaN] = (await call(machine, 'f', args)).map(firstOf);
      return moved < count ? value : NaN;
    };
    const expected: number[] = [];
    for (let i = 0; ; i++) {
      const above = await at(i, STEP);
      if (Number.isNaN(above)) break;
      expected.push((above - (await at(i, -STEP))) / (2 * STEP));
    }
    machine.dispose();
    return new ProgramDerivatives(program, expected);
  }

  /** The gradient, as the floats in the arguments. */
  async gradient(
    device: Device,
    float: ProgramFloat,
    options: CompileOptions = {},
  ): Promise<readonly number[]> {
    const program = this.#program;
    const args = program.args.map((arg) => valueOf(arg, float));
    const executable = this.#compiled('gradient', float, options);
    const [, ...found] = await result(executable, args, { program, device });
    return found.flatMap((tensor) => (isFloat(tensor.dtype) ? [...numberElements(tensor)] : []));
  }

  #compiled(mode: keyof typeof DERIVED, float: ProgramFloat, options: CompileOptions): Executable {
    const key = JSON.stringify([mode, float, options]);
    const known = this.#executables.get(key);
    const executable = known ?? compile(DERIVED[mode](this.#program.module(float)), options);
    this.#executables.set(key, executable);
    return executable;
  }

  /** The errors of the derivatives on a device. */
  async errorsOn(
    device: Device,
    float: ProgramFloat,
    options: CompileOptions = {},
  ): Promise<ProgramErrors> {
    const got = await this.gradient(device, float, options);
    if (got.length !== this.expected.length) {
      throw new Error(`got ${got.length} derivatives, expected ${this.expected.length}`);
    }
    const size = Math.max(1, ...this.expected.map(Math.abs));
    const differences = largest(got.map((x, i) => (x - (this.expected[i] ?? NaN)) / size));
    return { differences, modes: await this.#modes(got, { device, float, options }) };
  }

  async #modes(
    gradient: readonly number[],
    {
      device,
      float,
      options,
    }: {
      readonly device: Device;
      readonly float: ProgramFloat;
      readonly options: CompileOptions;
    },
  ): Promise<number | undefined> {
    const program = this.#program;
    if (program.withoutForward !== undefined) return undefined;
    const random = seededRandom(11);
    const along: number[] = [];
    const tangents = program.args.filter(hasTangent).map((arg) =>
      valueOf(arg, float, () => {
        const tangent = Math.round(random() * 16) / 8 - 1;
        along.push(tangent);
        return tangent;
      }),
    );
    const args = [...program.args.map((arg) => valueOf(arg, float)), ...tangents];
    const executable = this.#compiled('tangents', float, options);
    const found = await result(executable, args, { program, device });
    const forward = found.length === 2 && found[1] !== undefined ? firstOf(found[1]) : NaN;
    const terms = gradient.map((x, i) => x * (along[i] ?? 0));
    const reverse = terms.reduce((sum, x) => sum + x, 0);
    return largest([(forward - reverse) / terms.reduce((sum, x) => sum + Math.abs(x), 1)]);
  }
}

interface RunContext {
  readonly program: GradientProgram;
  readonly device: Device;
}

async function openProgram(
  executable: Executable,
  {
    program,
    host,
    device = host,
  }: Omit<RunContext, 'device'> & {
    readonly host: Device;
    readonly device?: Device;
  },
): Promise<VirtualMachine> {
  const devices = device.info.adapterClass === 'host' ? [device] : [device, host];
  const functions = Object.entries(program.functions ?? {}).map(
    ([name, fn]): [string, HostFunction] => [
      name,
      async (x) => {
        const [tensor] = x instanceof TensorValue ? await machine.read([x]) : [];
        return tensor && fn(tensor);
      },
    ],
  );
  const machine = await VirtualMachine.create(executable, {
    devices,
    functions: Object.fromEntries(functions),
    compile: 'on demand',
  });
  return machine;
}

/** The tensors in the result of `@main`. Everything that the call allocated must be free again after it. */
async function result(
  executable: Executable,
  args: readonly HostInput[],
  { program, device }: RunContext,
): Promise<readonly HostTensor[]> {
  const host = createHostDevice();
  const machine = await openProgram(executable, { program, host, device });
  try {
    return await call(machine, 'main', args);
  } finally {
    machine.dispose();
  }
}

async function call(
  machine: VirtualMachine,
  name: string,
  args: readonly HostInput[],
): Promise<readonly HostTensor[]> {
  const { liveBytes } = machine.memory();
  const value = await machine.get(name)(...args);
  const tensors = await machine.read(tensorsIn(value));
  machine.release(value);
  const left = machine.memory().liveBytes - liveBytes;
  if (left !== 0) throw new Error(`${left} bytes are left after the call of @${name}`);
  return tensors;
}

function tensorsIn(value: Value): TensorValue[] {
  if (value instanceof TensorValue) return [value];
  return value instanceof AdtValue ? value.fields.flatMap(tensorsIn) : [];
}

function firstOf(tensor: HostTensor): number {
  return numberElements(tensor)[0] ?? NaN;
}

/** The largest size of numbers, NaN if there is one. */
function largest(numbers: readonly number[]): number {
  return numbers.reduce((most, x) => (Number.isNaN(x) ? NaN : Math.max(most, Math.abs(x))), 0);
}
