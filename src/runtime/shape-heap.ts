import type { ShapeProgram } from '../bytecode/executable.ts';
import { applyDimOperator } from '../core/dim.ts';
import { internalError, ShapeError } from '../core/errors.ts';

/**
 * Runs stack code over the slots of a shape heap. The verifier has bounded slots and stack depth.
 * Throws ShapeError for a zero divisor and for results beyond 2^53.
 */
export function runShapeProgram(program: ShapeProgram, slots: Float64Array): void {
  const stack: number[] = [];
  for (const step of program.steps) {
    switch (step.op) {
      case 'const':
        stack.push(step.value);
        break;
      case 'load':
        stack.push(slots[step.slot] ?? 0);
        break;
      case 'store':
        slots[step.slot] = pop(stack);
        break;
      default: {
        const right = pop(stack);
        const left = pop(stack);
        const result = applyDimOperator(step.op, left, right);
        if (result === undefined) throw notExact(step.op, left, right);
        stack.push(result + 0);
      }
    }
  }
}

function pop(stack: number[]): number {
  const value = stack.pop();
  if (value === undefined) throw internalError('a verified shape program underflows its stack');
  return value;
}

function notExact(op: string, left: number, right: number): ShapeError {
  const dividesByZero = right === 0 && (op === 'floordiv' || op === 'mod');
  return new ShapeError({
    where: 'shape program',
    got: `${op} of ${left} and ${right}`,
    expected: dividesByZero ? 'a divisor other than 0' : 'a result within 2^53',
    remedy: 'Check the shapes of the inputs.',
  });
}
