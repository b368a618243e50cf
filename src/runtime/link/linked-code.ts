import type { BytecodeFunction } from '../../bytecode/executable.ts';
import type { PackedFunction } from '../values/value.ts';

/** The cases of the interpreter loop; calls are split by what they call. */
export const LinkedOp = {
  packed: 0,
  call: 1,
  tailCall: 2,
  invoke: 3,
  tailInvoke: 4,
  ret: 5,
  if: 6,
  goto: 7,
  /** In place of another instruction, whose fields it has; see `snapshot/`. */
  breakpoint: 8,
} as const;

/** A destination that drops the result. */
export const NO_DESTINATION = -1;

/**
 * An instruction with everything looked up that can be. An operand `i >= 0` is register i, a
 * negative one is value `~i` of the machine's constant table. All instructions have one hidden
 * class, so that the loop reads their fields without a lookup.
 */
export class LinkedInstruction {
  readonly op: number;
  /** A register, or {@link NO_DESTINATION}. */
  readonly destination: number;
  /** Index of an instruction of the same function, for jumps. */
  readonly target: number;
  /** The first operand, or the condition, or what `ret` returns. */
  readonly a: number;
  readonly b: number;
  readonly c: number;
  readonly args: readonly number[];
  readonly packed: PackedFunction;
  /** Index of the bytecode function that is called. */
  readonly callee: number;
  /** The cost of a call towards the next yield point, in instructions beyond its own. */
  readonly cost: number;
  /** Registers that a call of a bytecode function gives away with its arguments: nothing reads them after. */
  readonly moved: readonly number[];
  /** Index of the first word in the executable's code. */
  readonly codeIndex: number;

  constructor(fields: LinkedInstructionFields) {
    this.op = fields.op;
    this.destination = fields.destination ?? NO_DESTINATION;
    this.target = fields.target ?? -1;
    this.args = fields.args ?? [];
    this.a = this.args[0] ?? 0;
    this.b = this.args[1] ?? 0;
    this.c = this.args[2] ?? 0;
    this.packed = fields.packed ?? notPacked;
    this.callee = fields.callee ?? -1;
    this.cost = fields.cost ?? 0;
    this.moved = fields.moved ?? NONE;
    this.codeIndex = fields.codeIndex;
  }
}

interface LinkedInstructionFields {
  readonly op: number;
  readonly codeIndex: number;
  readonly destination?: number;
  readonly target?: number;
  readonly args?: readonly number[];
  readonly packed?: PackedFunction;
  readonly callee?: number;
  readonly cost?: number;
  readonly moved?: readonly number[];
}

const NONE: readonly number[] = [];

export interface LinkedFunction {
  readonly index: number;
  readonly source: BytecodeFunction;
  readonly paramCount: number;
  readonly registerCount: number;
  readonly code: readonly LinkedInstruction[];
  /** True for a declared host function: all its code does is call that function. */
  readonly isBorder: boolean;
}

function notPacked(): null {
  throw new Error('internal: the instruction calls no packed function');
}
