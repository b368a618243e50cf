import { sha256 } from '@noble/hashes/sha2.js';
import { ByteWriter } from '../../core/bytes/byte-writer.ts';
import type { Dim } from '../../core/dims/dim.ts';
import { dtypeInfo } from '../../core/tensor/dtype.ts';
import { UsageError } from '../../core/errors.ts';
import type {
  AttributeValue,
  PrimitiveFunction,
  TensorType,
} from '../../core/contracts/primitive-function.ts';
import { alignTensor, type DataBlock } from './data-layout.ts';
import type {
  BytecodeFunction,
  Constant,
  ExecutableData,
  FunctionSignature,
  ShapeStep,
  TensorConstant,
  DataType,
  FullType,
  NamedFunctionType,
  ProgramTypes,
  ValueType,
} from '../executable.ts';
import {
  type SectionName,
  DIM_INTEGER,
  DIM_OPERATOR_CODES,
  DIM_SYMBOL,
  FULL_TYPE_CODES,
} from './file-format.ts';
import { minorOf } from './minor-version.ts';
import { sortedEntries } from './sorted-entries.ts';
import * as format from './file-format.ts';

/** How an executable becomes bytes. */
export interface SerializeOptions {
  /** Bytes of one hashed block of the data section: a multiple of 256, at most 16 MiB. */
  readonly blockByteLength?: number;
  /** Computes a SHA-256, where there is a faster way than in JavaScript. */
  readonly sha256?: (bytes: Uint8Array) => Uint8Array;
}

/** A data section that can be read more than once, in blocks of any length. */
interface DataSection {
  readonly byteLength: number;
  blocks(blockByteLength: number): Iterable<DataBlock>;
}

/**
 * The bytes of a `.weft` file; `data` is the whole data section. Throws UsageError when `data` has
 * another length than the program says. The program must have been verified.
 */
export function serializeExecutable(
  program: ExecutableData,
  data: Uint8Array,
  options?: SerializeOptions,
): Uint8Array<ArrayBuffer> {
  const section = { byteLength: data.byteLength, blocks: (size: number) => views(data, size) };
  const { head } = serializeInBlocks(program, section, options);
  const file = new Uint8Array(head.byteLength + data.byteLength);
  file.set(head);
  file.set(data, head.byteLength);
  return file;
}

/** Views of an array, one after the other. */
export function* views(data: Uint8Array, blockByteLength: number): Generator<DataBlock, void> {
  for (let byteOffset = 0; byteOffset < data.byteLength; byteOffset += blockByteLength) {
    yield { byteOffset, bytes: data.subarray(byteOffset, byteOffset + blockByteLength) };
  }
}

/**
 * A `.weft` file that need not be in memory at once: its head, and its data in blocks. The data is
 * read twice, first for the hashes in the head. Throws as {@link serializeExecutable}.
 */
export function serializeInBlocks(
  program: ExecutableData,
  data: DataSection,
  {
    blockByteLength = format.DEFAULT_BLOCK_BYTE_LENGTH,
    sha256: hash = sha256,
  }: SerializeOptions = {},
): { readonly head: Uint8Array; readonly blocks: Iterable<DataBlock> } {
  if (data.byteLength !== program.dataByteLength) {
    throw new UsageError({
      where: 'serialize',
      got: `${data.byteLength} bytes of data`,
      expected: `${program.dataByteLength}`,
      remedy: 'An executable that was streamed does not keep its data section.',
    });
  }
  if (!format.isBlockByteLength(blockByteLength)) {
    throw new UsageError({
      where: 'serialize',
      got: `blocks of ${blockByteLength} bytes`,
      expected: `a multiple of 256 up to ${format.MAX_BLOCK_BYTE_LENGTH}`,
    });
  }
  const hashes: Uint8Array[] = [];
  for (const { bytes } of data.blocks(blockByteLength)) hashes.push(hash(bytes));
  const head = serializeHead(program, hashes, blockByteLength);
  return { head, blocks: data.blocks(blockByteLength) };
}

/** All of a file but its data section, blocks of which have these hashes. */
export function serializeHead(
  program: ExecutableData,
  blockHashes: readonly Uint8Array[],
  blockByteLength: number,
): Uint8Array {
  const sections = sectionsOf(program).map((name) => {
    const writer = new ByteWriter();
    if (name === 'blockHashes') for (const hash of blockHashes) writer.bytes(hash);
    else SECTION_WRITERS[name](writer, program);
    return { id: format.SectionId[name], bytes: writer.finish() };
  });
  let end = format.HEADER_BYTE_LENGTH + sections.length * format.SECTION_ENTRY_BYTE_LENGTH;
  const table = sections.map(({ id, bytes }) => {
    const byteOffset = Math.ceil(end / format.SECTION_ALIGNMENT) * format.SECTION_ALIGNMENT;
    end = byteOffset + bytes.length;
    return { id, byteOffset, byteLength: bytes.length };
  });
  const writer = new ByteWriter()
    .bytes(format.MAGIC)
    .u16(format.FORMAT_MAJOR)
    .u16(minorOf(program));
  writer
    .u32(alignTensor(end))
    .i64(program.dataByteLength)
    .u32(blockByteLength)
    .u32(sections.length);
  writer.bytes(new Uint8Array(format.HASH_BYTE_LENGTH));
  for (const { id, byteOffset, byteLength } of table) {
    writer.u32(id).u32(byteOffset).u32(byteLength);
  }
  for (const { bytes } of sections) writer.align(format.SECTION_ALIGNMENT).bytes(bytes);
  return sealHead(writer.align(256).finish());
}

function sectionsOf({ types, sourceMapBytes }: ExecutableData): readonly SectionName[] {
  const absent = new Set<SectionName>();
  if (types === undefined) absent.add('types');
  if (sourceMapBytes === undefined) absent.add('sourceMap');
  return format.SECTION_NAMES.filter((name) => !absent.has(name));
}

/** Bytes that each section of the file takes, in order, with default blocks. */
export function sectionByteLengths(program: ExecutableData): Map<SectionName, number> {
  return new Map(
    sectionsOf(program).map((name) => {
      if (name === 'blockHashes') {
        const blockCount = Math.ceil(program.dataByteLength / format.DEFAULT_BLOCK_BYTE_LENGTH);
        return [name, blockCount * format.HASH_BYTE_LENGTH];
      }
      const writer = new ByteWriter();
      SECTION_WRITERS[name](writer, program);
      return [name, writer.byteLength];
    }),
  );
}

/** Writes the hash of a head into it. The hash is over the head with zeros in its place. */
export function sealHead(head: Uint8Array): Uint8Array {
  head.fill(0, format.HEAD_HASH_OFFSET, format.HEAD_HASH_OFFSET + format.HASH_BYTE_LENGTH);
  head.set(sha256(head), format.HEAD_HASH_OFFSET);
  return head;
}

const SECTION_WRITERS: Readonly<
  Record<Exclude<SectionName, 'blockHashes'>, (w: ByteWriter, program: ExecutableData) => void>
> = {
  functions: (w, { functions }) => writeList(w, functions, writeFunction),
  code: (w, { code }) => {
    for (const word of code) w.u32(word);
  },
  functionTable: (w, { functionTable }) =>
    writeList(w, functionTable, (w, { kind, name }) => {
      w.u8(format.FUNCTION_KIND_CODES[kind]).string(name);
    }),
  constants: (w, { constants }) => writeList(w, constants, writeConstant),
  primitives: (w, { primitives }) => writeList(w, primitives, writePrimitive),
  shapePrograms: (w, { shapePrograms }) =>
    writeList(w, shapePrograms, (w, { steps }) => writeList(w, steps, writeShapeStep)),
  types: (w, { types }) => {
    if (types !== undefined) writeProgramTypes(w, types);
  },
  sourceMap: (w, { sourceMapBytes }) => {
    if (sourceMapBytes !== undefined) w.bytes(sourceMapBytes);
  },
  metadata: (w, { metadata }) =>
    writeList(w, sortedEntries(metadata), (w, [key, value]) => {
      w.string(key).string(value);
    }),
};

function writeFunction(w: ByteWriter, fn: BytecodeFunction): void {
  w.string(fn.name);
  writeList(w, fn.paramNames, (w, name) => w.string(name));
  w.u32(fn.registerCount).u32(fn.codeStart).u32(fn.codeLength);
  w.u8(fn.signature === undefined ? 0 : 1);
  if (fn.signature !== undefined) writeSignature(w, fn.signature);
}

function writeSignature(w: ByteWriter, { params, results }: FunctionSignature): void {
  writeList(w, params, writeFullType);
  writeList(w, results, (w, { name, type }) => writeFullType(w.string(name), type));
}

function writeConstant(w: ByteWriter, constant: Constant): void {
  w.u8(format.CONSTANT_CODES[constant.kind]);
  switch (constant.kind) {
    case 'tensor':
      w.u8(dtypeInfo(constant.dtype).code).u8(tensorFlags(constant));
      writeList(w, constant.shape, (w, dim) => w.i64(dim));
      w.i64(constant.byteOffset).i64(constant.byteLength);
      return;
    case 'shape':
      writeList(w, constant.value, (w, dim) => w.i64(dim));
      return;
    case 'string':
      w.string(constant.value);
      return;
    case 'int':
      w.i64(constant.value);
      return;
    case 'float':
      w.f64(constant.value);
      return;
    case 'dtype':
      w.u8(dtypeInfo(constant.value).code);
      return;
    default:
      constant satisfies never;
  }
}

function tensorFlags({ isSplat, device }: TensorConstant): number {
  return (
    (isSplat ? format.TENSOR_FLAGS.splat : 0) |
    (device === undefined ? 0 : format.TENSOR_FLAGS.host)
  );
}

function writePrimitive(w: ByteWriter, primitive: PrimitiveFunction): void {
  const { name, params, body, results, device, inPlace } = primitive;
  const host = device === undefined ? 0 : format.PRIMITIVE_FLAGS.host;
  w.string(name).u8(host | (inPlace === undefined ? 0 : format.PRIMITIVE_FLAGS.inPlace));
  if (inPlace !== undefined) w.u32(inPlace);
  writeList(w, params, writeTensorType);
  writeList(w, body, (w, call) => {
    w.string(call.op);
    writeList(w, call.inputs, (w, input) => w.u32(input < 0 ? 0xffff_ffff : input));
    writeList(w, sortedEntries(call.attributes), (w, [key, value]) =>
      writeAttribute(w.string(key), value),
    );
  });
  writeList(w, results, (w, { value, type }) => writeTensorType(w.u32(value), type));
}

function writeAttribute(w: ByteWriter, value: AttributeValue): void {
  const kind = format.attributeKind(value);
  w.u8(format.ATTRIBUTE_CODES[kind]);
  if (typeof value === 'number') w.f64(value);
  else if (typeof value === 'string') w.string(value);
  else if (typeof value === 'boolean') w.u8(value ? 1 : 0);
  else {
    writeList<Dim>(w, value, (w, item) => {
      if (kind === 'dims' || typeof item === 'object') writeDim(w, item);
      else if (typeof item === 'number') w.f64(item);
      else w.string(item);
    });
  }
}

function writeShapeStep(w: ByteWriter, step: ShapeStep): void {
  w.u8(format.SHAPE_STEP_CODES[step.op]);
  if (step.op === 'const') w.i64(step.value);
  else if (step.op === 'load' || step.op === 'store') w.u32(step.slot);
}

function writeList<T>(
  w: ByteWriter,
  items: readonly T[],
  write: (w: ByteWriter, item: T) => void,
): void {
  w.u32(items.length);
  for (const item of items) write(w, item);
}

function writeProgramTypes(w: ByteWriter, types: ProgramTypes): void {
  writeList(w, types.dataTypes, writeDataType);
  writeList(w, types.functions, writeFunctionType);
  writeList(w, types.packed, writeFunctionType);
}

function writeDataType(w: ByteWriter, { name, params, constructors }: DataType): void {
  w.string(name);
  writeList(w, params, (w, param) => w.string(param));
  writeList(w, constructors, (w, { name, tag, fields }) =>
    writeList(w.string(name).u32(tag), fields, writeFullType),
  );
}

function writeFunctionType(w: ByteWriter, { name, params, result }: NamedFunctionType): void {
  writeList(w.string(name), params, writeFullType);
  writeFullType(w, result);
}

/** Also the type of a signature, whose kinds are some of these. */
function writeFullType(w: ByteWriter, type: FullType | ValueType): void {
  w.u8(FULL_TYPE_CODES[type.kind]);
  switch (type.kind) {
    case 'tensor':
      writeTensorType(w, type);
      return;
    case 'tuple':
      writeList(w, type.fields, writeFullType);
      return;
    case 'adt':
      writeList(w.string(type.name), type.args, writeFullType);
      return;
    case 'function':
      writeList(w, type.params, writeFullType);
      writeFullType(w, type.result);
      return;
    case 'type-param':
    case 'opaque':
      w.string(type.name);
      return;
    default:
  }
}

function writeTensorType(w: ByteWriter, { dtype, shape }: TensorType): void {
  w.u8(dtypeInfo(dtype).code);
  writeList(w, shape, writeDim);
}

function writeDim(w: ByteWriter, dim: Dim): void {
  if (typeof dim === 'number') {
    w.u8(DIM_INTEGER).i64(dim);
  } else if (typeof dim === 'string') {
    w.u8(DIM_SYMBOL).string(dim);
  } else {
    w.u8(DIM_OPERATOR_CODES[dim.op]);
    writeDim(w, dim.left);
    writeDim(w, dim.right);
  }
}
