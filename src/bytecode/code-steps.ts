import type { BytecodeFunction, ExecutableData } from './executable.ts';
import * as isa from './isa.ts';

/** An instruction by the roles of its operands. */
export interface CodeStep {
  /** The register that it writes; undefined where the result is dropped or there is none. */
  readonly writes: number | undefined;
  /** The index in the function table of what it calls. */
  readonly callee: number | undefined;
  /** Registers that it reads, in order; undefined for operands that are no registers. */
  readonly reads: readonly (number | undefined)[];
  readonly next: readonly number[];
}

/** The instructions of a function in order. */
export function codeSteps({ code }: ExecutableData, fn: BytecodeFunction): CodeStep[] {
  const instructions = [...isa.decodeRange(code, fn.codeStart, fn.codeStart + fn.codeLength)];
  const numberAt = new Map(instructions.map(({ pc }, number) => [pc, number]));
  return instructions.map(({ spec, pc, operands }, number) => {
    let writes: number | undefined;
    let callee: number | undefined;
    const reads: (number | undefined)[] = [];
    const next = spec.fallsThrough ? [number + 1] : [];
    for (const [i, word] of operands.entries()) {
      const register = registerOf(word);
      switch (isa.operandSpec(spec, i).kind) {
        case 'destination':
          writes = register;
          break;
        case 'callee':
          callee = isa.argumentValue(word);
          break;
        case 'offset':
          next.push(numberAt.get(isa.jumpTarget(pc, word)) ?? number);
          break;
        default:
          reads.push(register);
      }
    }
    return { writes, callee, reads, next };
  });
}

function registerOf(word: number): number | undefined {
  const value = isa.argumentValue(word);
  const isRegister = isa.argumentKind(word) === isa.ArgumentKind.register;
  return isRegister && value !== isa.VOID_REGISTER && value !== isa.VM_REGISTER ? value : undefined;
}
