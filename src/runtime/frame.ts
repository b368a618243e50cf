import type { LinkedFunction } from './link/linked-code.ts';
import { release, type Value } from './values/value.ts';

/**
 * One call in progress. Where its result goes is written in the instruction of the caller before
 * the caller's `pc`.
 */
export class Frame {
  function: LinkedFunction;
  registers: Value[];
  /** Index of the next instruction. */
  pc = 0;

  /** Takes over the references that `registers` hold. */
  constructor(callee: LinkedFunction, registers: Value[]) {
    this.function = callee;
    this.registers = registers;
  }
}

/** Drops everything that a register file holds. */
export function releaseRegisters(registers: readonly Value[]): void {
  for (let i = 0; i < registers.length; i++) {
    const value = registers[i];
    if (typeof value === 'object' && value !== null) release(value);
  }
}
