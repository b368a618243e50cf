import { RuntimeError } from '../core/errors.ts';
import { Frame, releaseRegisters } from './frame.ts';
import type { LinkedFunction } from './linked-code.ts';
import type { LinkedProgram } from './link.ts';
import { release, type Value } from './value.ts';

export interface Limits {
  /** Frames that all calls in flight may have together. */
  readonly callDepth: number;
  /** Instructions of one call from outside. */
  readonly instructions: number;
  /** How long a run may hold the thread before others get their turn. */
  readonly sliceMs: number;
}

export const DEFAULT_LIMITS: Limits = {
  callDepth: 100_000,
  instructions: Number.POSITIVE_INFINITY,
  sliceMs: 8,
};

/** Frames in use by all calls of a machine. */
export interface FrameCount {
  live: number;
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
  readonly #frameCount: FrameCount;

  constructor(program: LinkedProgram, limits: Limits, frameCount: FrameCount) {
    this.program = program;
    this.limits = limits;
    this.#frameCount = frameCount;
  }

  /** Takes over the references that `registers` hold. Throws RuntimeError beyond the call depth. */
  push(callee: LinkedFunction, registers: Value[]): Frame {
    if (this.#frameCount.live >= this.limits.callDepth) {
      releaseRegisters(registers);
      throw tooDeep(this.limits.callDepth);
    }
    const frame = new Frame(callee, registers);
    this.#frameCount.live++;
    this.frames.push(frame);
    return frame;
  }

  pop(): void {
    const frame = this.frames.pop();
    if (frame === undefined) return;
    this.#frameCount.live--;
    releaseRegisters(frame.registers);
    frame.registers = [];
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

function tooDeep(limit: number): RuntimeError {
  return new RuntimeError(
    {
      got: `a call beyond ${limit} frames`,
      expected: `at most ${limit} frames`,
      remedy: 'Return the result of the call at once (a tail call), or raise limits.callDepth.',
    },
    { details: { limit } },
  );
}
