import { BUILTIN_PREFIX, type BuiltinName } from '../../bytecode/builtins.ts';
import type { ProgramBuilder } from '../../bytecode/build/program-builder.ts';
import type { ShapeStep } from '../../bytecode/executable.ts';
import type {
  FunctionBuilder,
  Operand,
  OperandLike,
  RegisterOperand,
} from '../../bytecode/build/function-builder.ts';
import type { Shape } from '../../core/tensor/shape.ts';

/** Builtin calls and constants of one function. */
export class Emitter {
  readonly code: FunctionBuilder;
  readonly program: ProgramBuilder;
  /** Numbers of shape programs by content, for all functions. */
  readonly #shapePrograms: Map<string, number>;

  constructor(program: ProgramBuilder, code: FunctionBuilder, shapePrograms: Map<string, number>) {
    this.program = program;
    this.code = code;
    this.#shapePrograms = shapePrograms;
  }

  builtin(name: BuiltinName, args: readonly OperandLike[], into?: Operand): RegisterOperand {
    const register = into === undefined ? undefined : asRegister(into);
    return this.code.call(
      BUILTIN_PREFIX + name,
      args,
      register === undefined ? {} : { into: register },
    );
  }

  kill(operand: Operand): void {
    if (operand.kind === 'register') this.builtin('kill', [], operand);
  }

  shape(shape: readonly number[]): Operand {
    const constant: Shape = shape;
    return this.program.shape(constant);
  }

  shapeProgram(steps: readonly ShapeStep[]): number {
    const content = JSON.stringify(steps);
    const known = this.#shapePrograms.get(content);
    if (known !== undefined) return known;
    const number = this.program.shapeProgram(steps);
    this.#shapePrograms.set(content, number);
    return number;
  }
}

export function asRegister(operand: Operand): RegisterOperand {
  if (operand.kind === 'register') return { kind: 'register', value: operand.value };
  throw new Error(`internal: a ${operand.kind} where a register is needed`);
}
