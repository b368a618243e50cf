import { applyDimOperator } from '../../core/dims/dim.ts';
import { brokenRule } from './broken-rule.ts';
import type { ShapeProgram, ShapeStep } from '../executable.ts';

/** The most slots of a shape heap. */
export const MAX_HEAP_SLOTS = 2 ** 16;
/** The deepest stack of a shape program. */
const MAX_SHAPE_STACK = 64;

/** Checks shape programs; returns for each the number of slots that its heap must have. */
export function verifyShapePrograms(programs: readonly ShapeProgram[]): number[] {
  return programs.map((program, index) => verifyShapeProgram(program, index));
}

function verifyShapeProgram({ steps }: ShapeProgram, index: number): number {
  // Values that are known before the program runs; undefined for those that come from the heap.
  const stack: (number | undefined)[] = [];
  let slotCount = 0;
  for (const [position, step] of steps.entries()) {
    const where = `shape program ${index}, step ${position} (${step.op})`;
    if (step.op === 'load' || step.op === 'store') {
      if (!Number.isInteger(step.slot) || step.slot < 0 || step.slot >= MAX_HEAP_SLOTS) {
        throw brokenRule(where, `slot ${step.slot}`, `0 to ${MAX_HEAP_SLOTS - 1}`);
      }
      slotCount = Math.max(slotCount, step.slot + 1);
    }
    runStep(step, stack, where);
  }
  if (stack.length > 0) {
    throw brokenRule(
      `shape program ${index}`,
      `${stack.length} values left on the stack`,
      'none at the end',
    );
  }
  return slotCount;
}

function runStep(step: ShapeStep, stack: (number | undefined)[], where: string): void {
  if (step.op === 'const' || step.op === 'load') {
    if (step.op === 'const' && !(Number.isSafeInteger(step.value) && !Object.is(step.value, -0))) {
      throw brokenRule(where, `${step.value}`, 'a safe integer');
    }
    if (stack.length >= MAX_SHAPE_STACK) {
      throw brokenRule(where, 'stack overflow', `at most ${MAX_SHAPE_STACK} values on the stack`);
    }
    stack.push(step.op === 'const' ? step.value : undefined);
    return;
  }
  const needed = step.op === 'store' ? 1 : 2;
  if (stack.length < needed) {
    throw brokenRule(
      where,
      `stack underflow: ${stack.length} values`,
      `at least ${needed} on the stack`,
    );
  }
  const right = stack.pop();
  if (step.op === 'store') return;
  const left = stack.pop();
  const isDivision = step.op === 'floordiv' || step.op === 'mod';
  const known = left !== undefined && right !== undefined;
  const value = known ? applyDimOperator(step.op, left, right) : undefined;
  if ((isDivision && right === 0) || (known && value === undefined)) {
    throw brokenRule(
      where,
      `${left ?? 'a slot'} ${step.op} ${right}`,
      'a divisor other than zero and a result below 2^53',
    );
  }
  stack.push(value);
}
