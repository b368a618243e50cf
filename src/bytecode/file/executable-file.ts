import { sha256 } from '@noble/hashes/sha2.js';
import { requireBytes, requireKind } from '../../core/check-options.ts';
import { UsageError } from '../../core/errors.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { PrimitiveFunction } from '../../core/contracts/primitive-function.ts';
import { blocksOf } from './blocks-of.ts';
import { tensorOf } from '../constant-tensor.ts';
import type { DataBlock } from './data-layout.ts';
import { DataPadding } from './data-padding.ts';
import type { Assembled } from '../build/draft.ts';
import type {
  BytecodeFunction,
  Constant,
  ExecutableData,
  FunctionEntry,
  ProgramTypes,
  ShapeProgram,
} from '../executable.ts';
import { FORMAT_MAJOR, FORMAT_MINOR } from './file-format.ts';
import { checkHash, hashedHead, readHeader } from './file-head.ts';
import { decodeRange } from '../isa.ts';
import { blockPlace, checkFileLength, parseHead } from '../text/parse-head.ts';
import { parseExecutable } from '../text/parse.ts';
import { printShape, printSignature } from '../text/print-types.ts';
import { printExecutable } from '../text/print.ts';
import {
  sectionByteLengths,
  serializeExecutable,
  serializeInBlocks,
  type SerializeOptions,
  views,
} from './serialize.ts';
import { SourceMap } from '../source-map.ts';
import type { TensorPieces } from '../text/tensor-pieces.ts';
import { formatName } from '../text/text-format.ts';
import { toTypeScript, type ToTypeScriptOptions } from '../text/to-typescript.ts';

/** A verified program together with its data section. Immutable. */
export class Executable implements ExecutableData {
  readonly functions: readonly BytecodeFunction[];
  /** All functions' instructions, 32-bit words. */
  readonly code: Uint32Array;
  readonly functionTable: readonly FunctionEntry[];
  /** The table that constant operands index. */
  readonly constants: readonly Constant[];
  /** Fused groups of operators, which devices compile to kernels. */
  readonly primitives: readonly PrimitiveFunction[];
  /** The programs that the builtin `compute_shape` runs, by index. */
  readonly shapePrograms: readonly ShapeProgram[];
  /** Types in full; absent where signatures tell all. */
  declare readonly types?: ProgramTypes;
  /** Facts about the program, such as its producer. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly dataByteLength: number;
  /** The bytes of the tensor constants; none where they lie in files, see {@link blocks}. */
  readonly data: Uint8Array;
  /** The section *source map*, see {@link sourceMap}. */
  declare readonly sourceMapBytes?: Uint8Array;
  readonly #pieces: TensorPieces | undefined;
  #sourceMap: SourceMap | undefined;

  /** Takes a program as it is; use ExecBuilder or `fromBytes`, which verify it. */
  constructor(program: ExecutableData, data: Uint8Array | TensorPieces) {
    const isProgram = 'functionTable' in Object(program);
    const expected = 'a program, which Executable.fromBytes makes of bytes';
    requireKind('new Executable', [expected, () => isProgram], ['what is', program]);
    this.functions = program.functions;
    this.code = program.code;
    this.functionTable = program.functionTable;
    this.constants = program.constants;
    this.primitives = program.primitives;
    this.shapePrograms = program.shapePrograms;
    if (program.types !== undefined) this.types = program.types;
    if (program.sourceMapBytes !== undefined) this.sourceMapBytes = program.sourceMapBytes;
    this.metadata = program.metadata;
    this.dataByteLength = program.dataByteLength;
    const isWhole = data instanceof Uint8Array;
    this.data = isWhole ? data : new Uint8Array(0);
    this.#pieces = isWhole ? undefined : data;
  }

  /** @internal A program that was verified. */
  static of({ program, data }: Assembled): Executable {
    return new Executable(program, data);
  }

  /**
   * Reads a `.weft` file; the tensors stay views of `bytes`. Throws FormatError for bytes that are
   * not an executable or are damaged, VerifyError for a program that breaks a rule.
   */
  static fromBytes(bytes: Uint8Array): Executable {
    requireBytes('Executable.fromBytes', bytes);
    const { program, data } = readExecutable(bytes);
    const executable = new Executable(program, data);
    executable.#sourceMap = SourceMap.of(program);
    return executable;
  }

  /** The `.weft` file. `fromBytes` gives an equal executable. */
  toBytes(options?: SerializeOptions): Uint8Array<ArrayBuffer> {
    if (this.#pieces === undefined) return serializeExecutable(this, this.data, options);
    const { head, blocks } = serializeInBlocks(this, this.#pieces, options);
    const file = new Uint8Array(head.byteLength + this.dataByteLength);
    file.set(head);
    for (const { byteOffset, bytes } of blocks) file.set(bytes, head.byteLength + byteOffset);
    return file;
  }

  /**
   * The `.weft` file piece by piece, for programs that are too large for one array. Weights in files
   * are read twice, in blocks.
   */
  *toChunks(options?: SerializeOptions): Generator<Uint8Array, void> {
    const { data } = this;
    const whole = { byteLength: data.byteLength, blocks: (size: number) => views(data, size) };
    const { head, blocks } = serializeInBlocks(this, this.#pieces ?? whole, options);
    yield head;
    for (const { bytes } of blocks) yield bytes;
  }

  /** The data section in order and without gaps. */
  blocks(): Iterable<DataBlock> {
    return blocksOf(this.#pieces ?? this.data);
  }

  /**
   * Reads a listing; the inverse of `toText`. Throws ParseError with line and column, or
   * VerifyError.
   */
  static fromText(text: string): Executable {
    requireKind('Executable.fromText', 'text', ['the text', text]);
    const { program, data } = parseExecutable(text);
    return new Executable(program, data);
  }

  /** The listing. */
  toText(): string {
    return printExecutable(this);
  }

  /** A TypeScript module whose `buildExecutable()` gives an executable of the same bytes. */
  toTypeScript(options?: ToTypeScriptOptions): string {
    if (this.data.byteLength === this.dataByteLength) {
      return toTypeScript(this, this.data, options);
    }
    throw new UsageError({
      where: 'toTypeScript',
      got: `${this.dataByteLength} bytes of data that are not in memory`,
      expected: 'an executable with its data section',
    });
  }

  /**
   * Where each instruction comes from: nodes of a model, lines of a text. Undefined where nothing is known, as in
   * a program that was compiled with `sourceMap: false`.
   */
  get sourceMap(): SourceMap | undefined {
    return (this.#sourceMap ??= SourceMap.of(this));
  }

  /** The parts of the executable: functions, constants with shapes, bytes by section. */
  stats(): string {
    return executableStats(this);
  }

  /** A tensor constant, as a view of the data section. Throws UsageError for another constant. */
  tensor(index: number): HostTensor {
    const constant = this.constants[index];
    if (constant?.kind === 'tensor') {
      const before = this.constants.slice(0, index).filter(({ kind }) => kind === 'tensor');
      return this.#pieces?.tensor(before.length) ?? tensorOf(constant, this.data);
    }
    throw new UsageError({
      where: `constant ${index}`,
      got: constant?.kind ?? 'no constant',
      expected: 'a tensor',
    });
  }
}

/**
 * Reads, checks and verifies a whole `.weft` file. The data section of the result is a view of
 * `bytes`, so that weights are not copied. Throws FormatError or VerifyError.
 */
export function readExecutable(bytes: Uint8Array): {
  program: ExecutableData;
  data: Uint8Array;
} {
  const header = readHeader(bytes);
  checkFileLength(header, bytes.byteLength);
  const head = bytes.subarray(0, header.headByteLength);
  const { program, blockHashes } = parseHead(head, header, sha256(hashedHead(head)));
  const data = bytes.subarray(header.headByteLength);
  for (const [index, expectedHash] of blockHashes.entries()) {
    const start = index * header.blockByteLength;
    const block = data.subarray(start, start + header.blockByteLength);
    checkHash(sha256(block), expectedHash, blockPlace(index, header));
  }
  new DataPadding(program).check(data, 0);
  return { program, data };
}

/** The parts of an executable, as text for people. */
function executableStats(program: ExecutableData): string {
  return [
    `weft executable, format ${FORMAT_MAJOR}.${FORMAT_MINOR}`,
    ...list('bytecode functions', functionLines(program)),
    ...list('primitive functions', primitiveLines(program)),
    ...list('packed functions', namesOf(program.functionTable, 'packed')),
    ...list('constants', program.constants.map(constantLine)),
    ...list('shape programs', shapeProgramLines(program)),
    ...list('bytes', byteLines(program)),
    '',
  ].join('\n');
}

function list(title: string, lines: readonly string[]): string[] {
  const count = title === 'bytes' ? '' : ` (${lines.length})`;
  return [`${title}${count}${lines.length === 0 ? '' : ':'}`, ...lines.map((line) => `  ${line}`)];
}

function functionLines(program: ExecutableData): string[] {
  return program.functions.map(({ name, paramNames, signature, ...fn }) => {
    const end = fn.codeStart + fn.codeLength;
    const count = [...decodeRange(program.code, fn.codeStart, end)].length;
    const head = `${formatName(name)}${printSignature(paramNames, signature)}`;
    return `${head}: ${count} instructions, ${fn.registerCount} registers`;
  });
}

function primitiveLines({ primitives }: ExecutableData): string[] {
  return primitives.map(({ name, body }) => {
    const operators = body.map(({ op }) => op).join(' -> ');
    return `${formatName(name)}: ${operators === '' ? 'no operators' : operators}`;
  });
}

function namesOf(table: readonly FunctionEntry[], kind: FunctionEntry['kind']): string[] {
  return table.filter((entry) => entry.kind === kind).map(({ name }) => formatName(name));
}

function constantLine(constant: Constant, index: number): string {
  if (constant.kind === 'tensor') {
    const splat = constant.isSplat ? ', one element for all' : '';
    const { dtype, shape, byteLength } = constant;
    return `c[${index}] ${dtype} ${printShape(shape)}: ${byteLength} bytes${splat}`;
  }
  const { kind, value } = constant;
  return `c[${index}] ${kind} ${kind === 'shape' ? printShape(value) : JSON.stringify(value)}`;
}

function shapeProgramLines({ shapePrograms }: ExecutableData): string[] {
  return shapePrograms.map(({ steps }, index) => `p[${index}]: ${steps.length} steps`);
}

function byteLines(program: ExecutableData): string[] {
  const lines = [...sectionByteLengths(program)].map(([name, bytes]) => `${name}: ${bytes}`);
  return [...lines, `data: ${program.dataByteLength}`];
}
