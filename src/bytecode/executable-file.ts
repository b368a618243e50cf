import type { HostTensor } from '../core/host-tensor.ts';
import { UsageError } from '../core/errors.ts';
import { tensorOf } from './constant-tensor.ts';
import type {
  BytecodeFunction,
  Constant,
  ExecutableData,
  FunctionEntry,
  ShapeProgram,
} from './executable.ts';
import type { PrimitiveFunction } from '../core/primitive-function.ts';
import { parseExecutable } from './parse.ts';
import { printExecutable } from './print.ts';
import { readExecutable } from './read-executable.ts';
import { type SerializeOptions, serializeExecutable } from './serialize.ts';
import { executableStats } from './stats.ts';
import { toTypeScript, type ToTypeScriptOptions } from './to-typescript.ts';

/** A verified program together with its data section. Immutable. */
export class Executable implements ExecutableData {
  readonly functions: readonly BytecodeFunction[];
  readonly code: Uint32Array;
  readonly functionTable: readonly FunctionEntry[];
  readonly constants: readonly Constant[];
  readonly primitives: readonly PrimitiveFunction[];
  readonly shapePrograms: readonly ShapeProgram[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly dataByteLength: number;
  /** The bytes of the tensor constants. */
  readonly data: Uint8Array;

  /** Takes a program as it is; use ExecBuilder or `fromBytes`, which verify it. */
  constructor(program: ExecutableData, data: Uint8Array) {
    this.functions = program.functions;
    this.code = program.code;
    this.functionTable = program.functionTable;
    this.constants = program.constants;
    this.primitives = program.primitives;
    this.shapePrograms = program.shapePrograms;
    this.metadata = program.metadata;
    this.dataByteLength = program.dataByteLength;
    this.data = data;
  }

  /**
   * Reads a `.weft` file; the tensors stay views of `bytes`. Throws FormatError for bytes that are
   * not an executable or are damaged, VerifyError for a program that breaks a rule.
   */
  static fromBytes(bytes: Uint8Array): Executable {
    const { program, data } = readExecutable(bytes);
    return new Executable(program, data);
  }

  /** The `.weft` file. `fromBytes` gives an equal executable. */
  toBytes(options?: SerializeOptions): Uint8Array<ArrayBuffer> {
    return serializeExecutable(this, this.data, options);
  }

  /**
   * Reads a listing; the inverse of `toText`. Throws ParseError with line and column, or
   * VerifyError.
   */
  static fromText(text: string): Executable {
    const { program, data } = parseExecutable(text);
    return new Executable(program, data);
  }

  /** The listing. */
  toText(): string {
    return printExecutable(this);
  }

  /** A TypeScript module whose `buildExecutable()` gives an executable of the same bytes. */
  toTypeScript(options?: ToTypeScriptOptions): string {
    return toTypeScript(this, this.data, options);
  }

  /** What the executable consists of: functions, constants with shapes, bytes by section. */
  stats(): string {
    return executableStats(this);
  }

  /** A tensor constant, as a view of the data section. Throws UsageError for another constant. */
  tensor(index: number): HostTensor {
    const constant = this.constants[index];
    if (constant?.kind === 'tensor') return tensorOf(constant, this.data);
    throw new UsageError({
      where: `constant ${index}`,
      got: constant?.kind ?? 'no constant',
      expected: 'a tensor',
    });
  }
}
