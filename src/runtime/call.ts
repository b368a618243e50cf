import { RuntimeError } from '../core/errors.ts';
import { shortList } from '../core/short-list.ts';
import type { KernelTiming } from '../device/device.ts';
import type { LinkedFunction, LinkedInstruction } from './link/linked-code.ts';
import type { LinkedProgram } from './link/link.ts';
import {
  ClosureValue,
  describeValue,
  PackedFunctionValue,
  retain,
  type Value,
} from './values/value.ts';

/** How a call from outside ended. */
export interface CallOutcome {
  /** The caller owns one reference. */
  readonly value: Value;
  readonly instructionCount: number;
}

/** The result of a profiled call, and its times. */
export interface Profile {
  /** The caller owns one reference. */
  readonly result: Value;
  /** Launches on all devices, in order for each device. */
  readonly timings: readonly KernelTiming[];
  /** Bytecode instructions that were executed. */
  readonly instructionCount: number;
}

/** An operand's value: a register, or for a negative operand a constant. */
export function read(operand: number, registers: Value[], constants: readonly Value[]): Value {
  return (operand >= 0 ? registers[operand] : constants[~operand]) as Value;
}

/** The registers of a call of a bytecode function, holding references to the arguments. */
export function argumentRegisters(
  callee: LinkedFunction,
  instruction: LinkedInstruction,
  registers: Value[],
  constants: readonly Value[],
): Value[] {
  const { args } = instruction;
  const next: Value[] = [];
  for (let i = 0; i < args.length; i++) {
    const value = read(args[i] as number, registers, constants);
    if (typeof value === 'object') retain(value);
    next.push(value);
  }
  for (let i = args.length; i < callee.registerCount; i++) next.push(null);
  return next;
}

/** The function that `invoke_closure` calls, with the arguments and then the captured values. */
interface ClosureCall {
  readonly callee: LinkedFunction | PackedFunctionValue;
  readonly args: readonly Value[];
}

/** Throws RuntimeError when the value is no function, or the number of arguments is wrong. */
export function closureCall(
  { functions, machine }: LinkedProgram,
  value: Value,
  args: readonly Value[],
): ClosureCall {
  if (value instanceof PackedFunctionValue) return { callee: value, args };
  if (!(value instanceof ClosureValue)) {
    const got = describeValue(value);
    throw new RuntimeError({ where: 'invoke_closure', got, expected: 'a closure or a function' });
  }
  const all = value.captured.length === 0 ? args : [...args, ...value.captured];
  if (typeof value.target !== 'number') return { callee: value.target, args: all };
  const callee = value.machine === machine ? functions[value.target] : undefined;
  if (callee === undefined) {
    throw new RuntimeError({
      where: 'invoke_closure',
      got: 'a closure of another machine',
      expected: 'a closure that this machine made',
      remedy: 'Pass it as a JS function: otherMachine.toFunction(closure).',
    });
  }
  if (all.length !== callee.paramCount) throw wrongArity(callee, args.length, value);
  return { callee, args: all };
}

/** The registers of a call with these arguments, holding references to them. */
export function registersOf(callee: LinkedFunction, args: readonly Value[]): Value[] {
  const registers = new Array<Value>(callee.registerCount).fill(null);
  for (let i = 0; i < args.length; i++) {
    const value = args[i] ?? null;
    retain(value);
    registers[i] = value;
  }
  return registers;
}

function wrongArity(callee: LinkedFunction, got: number, closure: ClosureValue): RuntimeError {
  const captured = closure.captured.length;
  const { name, paramNames } = callee.source;
  return new RuntimeError({
    where: `call of ${name} through a closure`,
    got: `${got} arguments${captured === 0 ? '' : ` and ${captured} captured values`}`,
    expected: `${paramNames.length} in all (${shortList(paramNames)})`,
  });
}
