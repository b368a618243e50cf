import { RuntimeError } from '../core/errors.ts';
import { DEFAULT_MACHINE_LIMITS } from '../core/limits/program-limits.ts';
import { Frame, releaseRegisters } from './frame.ts';
import type { LinkedFunction } from './link/linked-code.ts';
import type { LinkedProgram } from './link/link.ts';
import { release, type Value } from './values/value.ts';

/**
 * Limits of the calls of a machine. A call beyond them rejects with RuntimeError or
 * OutOfMemoryError.
 */
export interface Limits {
  /** Frames that all calls in flight may have together. */
  readonly callDepth: number;
  /** Registers of all these frames. */
  readonly registers: number;
  /** Fields of tuples, ADT values and closures and slots of shape heaps, held at one time. */
  readonly fields: number;
  /** Instructions of one call from outside. */
  readonly instructions: number;
  /** How long a run may hold the thread before others get their turn. */
  readonly sliceMs: number;
}

export const DEFAULT_LIMITS: Limits = {
  ...DEFAULT_MACHINE_LIMITS,
  instructions: Number.POSITIVE_INFINITY,
};

/** Frames and registers in use by all calls of a machine. */
export interface FrameCount {
  live: number;
  registers: number;
}

/** One call from outside: a stack of frames, apart from those of other calls. */
export class Invocation {
  readonly program: LinkedProgram;
  readonly limits: Limits;
  readonly frames: Frame[] = [];
  /** Instructions executed so far. */
  executed = 0;
  /** Set when the first frame has returned; holds a reference until it is taken. */
  result: Value = null;
  isDone = false;
  /** True while the call stands at a breakpoint. */
  isBroken = false;
  readonly #frameCount: FrameCount;

  constructor(program: LinkedProgram, limits: Limits, frameCount: FrameCount) {
    this.program = program;
    this.limits = limits;
    this.#frameCount = frameCount;
  }

  /** Takes over the references that `registers` hold. Throws RuntimeError beyond the limits. */
  push(callee: LinkedFunction, registers: Value[]): Frame {
    const { callDepth } = this.limits;
    if (this.#frameCount.live >= callDepth) {
      releaseRegisters(registers);
      throw tooDeep(callDepth, 'frames', 'callDepth');
    }
    this.#countRegisters(registers);
    const frame = new Frame(callee, registers);
    this.#frameCount.live++;
    this.frames.push(frame);
    return frame;
  }

  /** Makes the last frame that of another call; otherwise as {@link push}. */
  replace(frame: Frame, callee: LinkedFunction, registers: Value[]): void {
    this.#countRegisters(registers);
    const old = frame.registers;
    frame.function = callee;
    frame.registers = registers;
    frame.pc = 0;
    this.#drop(old);
  }

  pop(): void {
    const frame = this.frames.pop();
    if (frame === undefined) return;
    this.#frameCount.live--;
    this.#drop(frame.registers);
    frame.registers = [];
  }

  #countRegisters(registers: readonly Value[]): void {
    const count = this.#frameCount.registers + registers.length;
    if (count > this.limits.registers) {
      releaseRegisters(registers);
      throw tooDeep(this.limits.registers, 'registers', 'registers');
    }
    this.#frameCount.registers = count;
  }

  #drop(registers: readonly Value[]): void {
    this.#frameCount.registers -= registers.length;
    releaseRegisters(registers);
  }

  /** Hands the reference to the result over. */
  takeResult(): Value {
    const { result } = this;
    this.result = null;
    return result;
  }

  /** Drops everything, after an error or a cancellation. */
  unwind(): void {
    while (this.frames.length > 0) this.pop();
    release(this.takeResult());
  }
}

function tooDeep(limit: number, what: string, option: keyof Limits): RuntimeError {
  return new RuntimeError(
    {
      got: `a call beyond ${limit} ${what}`,
      expected: `at most ${limit} ${what}`,
      remedy: `Return the result of the call at once (a tail call), or raise limits.${option}.`,
    },
    { details: { limit } },
  );
}
