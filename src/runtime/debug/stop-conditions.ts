import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { Frame } from '../frame.ts';
import type { Invocation } from '../invocation.ts';
import type { LinkedFunction } from '../link/linked-code.ts';
import type { VirtualMachine } from '../virtual-machine.ts';
import type { BreakpointPlaces } from './breakpoint-places.ts';
import type { Breakpoint, FoundOutput, SetBreakpoint } from './debug-types.ts';
import { numbersOf } from './describe-tensor.ts';
import type { KernelInstructions, KernelLaunch } from '../observe/kernel-instructions.ts';

/** Returns true if an element is to stop the run. */
type Test = (element: number) => boolean;

export interface ConditionContext {
  readonly machine: VirtualMachine;
  readonly places: BreakpointPlaces;
  readonly kernels: KernelInstructions;
}

/** Breakpoints of a debugging run, and what its kernels' outputs are tested for. */
export class StopConditions {
  readonly #context: ConditionContext;
  readonly #places = new Map<LinkedFunction, Set<number>>();
  #tests: readonly { readonly breakpoint: Breakpoint; readonly test: Test }[] = [];
  #watched: KernelLaunch | undefined;
  /** The output for which the last test held; undefined where none did. */
  found: FoundOutput | undefined;

  constructor(context: ConditionContext) {
    this.#context = context;
  }

  /** Sets all breakpoints, in place of those that were set before. */
  set(all: readonly SetBreakpoint[]): void {
    const { places } = this.#context;
    this.#places.clear();
    for (const { function: name, instruction } of all.flatMap((each) => each.places)) {
      const callee = places.functionOf(name);
      const known = this.#places.get(callee) ?? new Set();
      this.#places.set(callee, known.add(instruction));
    }
    this.#tests = all.flatMap(({ breakpoint }) => {
      const test = testOf(breakpoint);
      return test === undefined ? [] : [{ breakpoint, test }];
    });
  }

  /** Returns true if there is a breakpoint at the instruction that a frame runs next. */
  isAt(frame: Frame | undefined): boolean {
    return frame !== undefined && this.#places.get(frame.function)?.has(frame.pc) === true;
  }

  /** Call before an instruction, whose kernel's output is to be tested. */
  before({ frames, program }: Invocation): void {
    const frame = frames.at(-1);
    if (this.#tests.length === 0 || frame === undefined) return;
    this.#watched = this.#context.kernels.next(frame, program.constants);
  }

  /** After the instruction: whether a test holds for the output of its kernel; undefined where there is nothing to test. */
  check(): Promise<boolean> | undefined {
    const watched = this.#watched;
    this.forget();
    return watched && this.#check(watched);
  }

  async #check(launch: KernelLaunch): Promise<boolean> {
    const tensors = await this.#context.machine.read(launch.results());
    this.found = this.#firstIn(tensors, launch);
    return this.found !== undefined;
  }

  /** Forgets the output that waits, of a call that failed at its kernel. */
  forget(): void {
    this.#watched = undefined;
    this.found = undefined;
  }

  #firstIn(
    tensors: readonly HostTensor[],
    { primitive, at }: KernelLaunch,
  ): FoundOutput | undefined {
    for (const tensor of tensors) {
      const numbers = numbersOf(tensor);
      for (const { breakpoint, test } of this.#tests) {
        const { count, element } = countOf(numbers, test);
        if (count === 0) continue;
        const place = this.#context.places.describe(at);
        return { ...place, kernel: primitive.name, breakpoint, count, element };
      }
    }
    return undefined;
  }
}

function testOf(breakpoint: Breakpoint): Test | undefined {
  if ('outputAbove' in breakpoint) {
    const limit = breakpoint.outputAbove;
    return (element) => Math.abs(element) > limit;
  }
  if (!('output' in breakpoint)) return undefined;
  return breakpoint.output === 'nan'
    ? (element) => Number.isNaN(element)
    : (element) => Math.abs(element) === Number.POSITIVE_INFINITY;
}

function countOf(numbers: ArrayLike<number>, test: Test): { count: number; element: number } {
  let [count, element] = [0, -1];
  for (let i = 0; i < numbers.length; i++) {
    if (!test(numbers[i] as number)) continue;
    if (count === 0) element = i;
    count++;
  }
  return { count, element };
}
