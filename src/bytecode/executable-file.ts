import { HostTensor } from '../core/host-tensor.ts';
import { UsageError } from '../core/errors.ts';
import type {
  BytecodeFunction,
  Constant,
  ExecutableData,
  FunctionEntry,
  ShapeProgram,
  TensorConstant,
} from './executable.ts';
import type { PrimitiveFunction } from '../core/primitive-function.ts';
import { readExecutable } from './read-executable.ts';
import { type SerializeOptions, serializeExecutable } from './serialize.ts';

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

/** A tensor constant over the data section. */
export function tensorOf(constant: TensorConstant, data: Uint8Array): HostTensor {
  const { dtype, shape, isSplat, byteOffset, byteLength } = constant;
  const bytes = data.subarray(byteOffset, byteOffset + byteLength);
  if (!isSplat) return HostTensor.fromBytes(dtype, shape, bytes);
  const { elements } = HostTensor.fromBytes(dtype, [1], bytes);
  return new HostTensor(dtype, shape, elements, true);
}
