import { internalError, RuntimeError } from '../core/errors.ts';
import { argumentRegisters, closureCall, read, registersOf } from './call.ts';
import type { Frame } from './frame.ts';
import type { Invocation } from './invocation.ts';
import { type LinkedFunction, type LinkedInstruction, LinkedOp } from './link/linked-code.ts';
import {
  describeValue,
  discard,
  PackedFunctionValue,
  release,
  retain,
  type Value,
} from './values/value.ts';

/** Instructions between two looks at the clock and at the caller's signal. */
const SLICE = 1 << 16;

/**
 * Runs until the call is done, a slice is used up (both undefined), or a packed function returned
 * a promise, whose value goes to {@link resume}. The verifier has bounded every index, so only
 * what depends on values is checked.
 */
export function run(invocation: Invocation, slice = SLICE): Promise<Value> | undefined {
  const { functions, constants } = invocation.program;
  let frame = topFrame(invocation);
  let { registers, pc } = frame;
  let { code } = frame.function;
  let executed = 0;
  let limit = sliceOf(invocation, slice);
  try {
    while (executed < limit) {
      const instruction = code[pc++] as LinkedInstruction;
      executed++;
      switch (instruction.op) {
        case LinkedOp.packed: {
          const result = callPacked(instruction, registers, constants);
          limit -= instruction.cost;
          if (result instanceof Promise) return result;
          assign(registers, instruction.destination, result);
          continue;
        }
        case LinkedOp.goto:
          pc = instruction.target;
          continue;
        case LinkedOp.if:
          if (isFalse(registers[instruction.a] as Value)) pc = instruction.target;
          continue;
        case LinkedOp.breakpoint:
          pc--;
          executed--;
          invocation.isBroken = true;
          return undefined;
        case LinkedOp.call:
        case LinkedOp.tailCall: {
          const callee = functions[instruction.callee] as LinkedFunction;
          const next = argumentRegisters(callee, instruction, registers, constants);
          giveAway(instruction.moved, registers);
          limit -= instruction.cost;
          frame.pc = pc;
          frame = enter(invocation, callee, next, instruction.op === LinkedOp.tailCall);
          break;
        }
        case LinkedOp.invoke:
        case LinkedOp.tailInvoke: {
          const [closure = null, ...args] = instruction.args.map((i) =>
            read(i, registers, constants),
          );
          const call = closureCall(invocation.program, closure, args);
          limit -= instruction.cost + call.args.length;
          if (call.callee instanceof PackedFunctionValue) {
            const result = call.callee.call(...call.args);
            if (result instanceof Promise) return result;
            assign(registers, instruction.destination, result);
            continue;
          }
          const next = registersOf(call.callee, call.args);
          giveAway(instruction.moved, registers);
          limit -= next.length;
          frame.pc = pc;
          frame = enter(invocation, call.callee, next, instruction.op === LinkedOp.tailInvoke);
          break;
        }
        default: {
          const caller = leave(invocation, read(instruction.a, registers, constants));
          if (caller === undefined) return undefined;
          frame = caller;
        }
      }
      registers = frame.registers;
      code = frame.function.code;
      pc = frame.pc;
    }
    return undefined;
  } finally {
    frame.pc = pc;
    invocation.executed += executed;
  }
}

/** Calls a packed function. Up to three arguments go without an array. */
function callPacked(
  instruction: LinkedInstruction,
  registers: Value[],
  constants: readonly Value[],
): Value | Promise<Value> {
  const { packed, args } = instruction;
  switch (args.length) {
    case 0:
      return packed();
    case 1:
      return packed(read(instruction.a, registers, constants));
    case 2:
      return packed(
        read(instruction.a, registers, constants),
        read(instruction.b, registers, constants),
      );
    case 3:
      return packed(
        read(instruction.a, registers, constants),
        read(instruction.b, registers, constants),
        read(instruction.c, registers, constants),
      );
    default:
      return packed(...args.map((operand) => read(operand, registers, constants)));
  }
}

/** Gives the instruction that {@link run} stopped at its value. */
export function resume(invocation: Invocation, value: Value): void {
  const { registers, function: callee, pc } = topFrame(invocation);
  assign(registers, (callee.code[pc - 1] as LinkedInstruction).destination, value);
}

/** Stores a value, or frees one that nobody takes. */
function assign(registers: Value[], destination: number, value: Value): void {
  if (destination < 0) {
    discard(value);
    return;
  }
  const old = registers[destination] as Value;
  if (typeof value === 'object') retain(value);
  registers[destination] = value;
  if (typeof old === 'object') release(old);
}

/** Drops arguments that the callee holds by now, so that it is the only one and may change them. */
function giveAway(moved: readonly number[], registers: Value[]): void {
  for (let i = 0; i < moved.length; i++) {
    const register = moved[i] as number;
    release(registers[register] as Value);
    registers[register] = null;
  }
}

function enter(
  invocation: Invocation,
  callee: LinkedFunction,
  registers: Value[],
  isTail: boolean,
): Frame {
  if (!isTail) return invocation.push(callee, registers);
  const frame = topFrame(invocation);
  invocation.replace(frame, callee, registers);
  return frame;
}

/** Pops a frame; the caller's, or undefined when the call from outside is done. */
function leave(invocation: Invocation, result: Value): Frame | undefined {
  retain(result);
  invocation.pop();
  const caller = invocation.frames.at(-1);
  if (caller === undefined) {
    invocation.result = result;
    invocation.isDone = true;
    return undefined;
  }
  const call = caller.function.code[caller.pc - 1] as LinkedInstruction;
  assign(caller.registers, call.destination, result);
  release(result);
  return caller;
}

function isFalse(condition: Value): boolean {
  if (typeof condition === 'number') return condition === 0;
  throw new RuntimeError({
    where: 'if',
    got: describeValue(condition),
    expected: 'an int',
    remedy: 'Pass the condition through vm.builtin.read_if_cond.',
  });
}

function sliceOf({ executed, limits }: Invocation, slice: number): number {
  const left = limits.instructions - executed;
  if (left > 0) return Math.min(slice, left);
  throw new RuntimeError(
    {
      got: `a program that runs beyond ${limits.instructions} instructions`,
      expected: 'an end within limits.instructions',
    },
    { details: { limit: limits.instructions } },
  );
}

function topFrame({ frames }: Invocation): Frame {
  const frame = frames.at(-1);
  if (frame === undefined) throw internalError('the call has no frame');
  return frame;
}
