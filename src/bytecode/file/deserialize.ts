import { ByteReader } from '../../core/bytes/byte-reader.ts';
import type {
  AttributeValue,
  OperatorCall,
  PrimitiveFunction,
  TensorType,
} from '../../core/contracts/primitive-function.ts';
import type {
  BytecodeFunction,
  Constant,
  ExecutableData,
  FunctionEntry,
  NamedResult,
  ShapeProgram,
  ShapeStep,
  DataType,
  FullType,
  NamedFunctionType,
  ProgramTypes,
  ValueType,
} from '../executable.ts';
import {
  ATTRIBUTE_CODES,
  attributeKind,
  CONSTANT_CODES,
  FUNCTION_KIND_CODES,
  PRIMITIVE_FLAGS,
  PRIMITIVE_FLAGS_MINOR,
  type RareSection,
  SHAPE_STEP_CODES,
  TENSOR_FLAGS,
} from './file-format.ts';
import type { FileHeader, FileSection, FileSections } from './file-head.ts';
import type { Dim } from '../../core/dims/dim.ts';
import { ALL_DTYPES, type DType, dtypeFromCode } from '../../core/tensor/dtype.ts';
import * as format from './file-format.ts';

/**
 * The program of a file's sections. Throws FormatError where the bytes are not what the format
 * says; what the program means is for the verifier.
 */
export function deserializeProgram(
  sections: FileSections,
  { minor, dataByteLength }: Pick<FileHeader, 'minor' | 'dataByteLength'>,
): ExecutableData {
  const read = <T>(
    name: Exclude<keyof FileSections, RareSection>,
    readSection: (r: ByteReader) => T,
  ): T => readWhole(name, sections[name], readSection);
  return {
    functions: read('functions', (r) => r.list('functions', 21, () => readFunction(r))),
    code: read('code', readCode),
    functionTable: read('functionTable', (r) =>
      r.list('function references', 5, () => readFunctionEntry(r)),
    ),
    constants: read('constants', (r) => r.list('constants', 2, () => readConstant(r))),
    primitives: read('primitives', (r) => r.list('primitives', 16, () => readPrimitive(r, minor))),
    shapePrograms: read('shapePrograms', (r) =>
      r.list('shape programs', 4, () => readShapeProgram(r)),
    ),
    ...(sections.types !== undefined && {
      types: readWhole('types', sections.types, readProgramTypes),
    }),
    // A view would keep the whole head in memory.
    ...(sections.sourceMap !== undefined && { sourceMapBytes: sections.sourceMap.bytes.slice() }),
    metadata: read('metadata', (r) => readRecord(r, 'metadata', () => r.string('value'))),
    dataByteLength,
  };
}

/** The content of a section, of which nothing is left over. */
function readWhole<T>(
  name: string,
  { bytes, fileOffset }: FileSection,
  readSection: (r: ByteReader) => T,
): T {
  const reader = new ByteReader(bytes, { where: `section ${name}`, fileOffset });
  const value = readSection(reader);
  reader.end();
  return value;
}

function readCode(r: ByteReader): Uint32Array {
  if (r.remaining % 4 !== 0) {
    throw r.error({ got: `${r.remaining} bytes of code`, expected: 'a multiple of 4' });
  }
  const code = new Uint32Array(r.remaining / 4);
  for (let i = 0; i < code.length; i++) code[i] = r.u32('code word');
  return code;
}

function readFunction(r: ByteReader): BytecodeFunction {
  const name = r.string('function name');
  const paramNames = r.list('parameters', 4, () => r.string('parameter name'));
  const registerCount = r.u32('register count');
  const codeStart = r.u32('code start');
  const codeLength = r.u32('code length');
  const fn = { name, paramNames, registerCount, codeStart, codeLength };
  if (!r.bool('signature flag')) return fn;
  const params = r.list('parameter types', 1, () => readValueType(r));
  const results = r.list(
    'results',
    5,
    (): NamedResult => ({ name: r.string('result name'), type: readValueType(r) }),
  );
  return { ...fn, signature: { params, results } };
}

function readFunctionEntry(r: ByteReader): FunctionEntry {
  return { kind: readCodeOf(r, FUNCTION_KIND_CODES, 'function kind'), name: r.string('name') };
}

function readShape(r: ByteReader): number[] {
  return r.list('dimensions', 8, () => r.i64('dimension'));
}

function readConstant(r: ByteReader): Constant {
  const kind = readCodeOf(r, CONSTANT_CODES, 'constant kind');
  switch (kind) {
    case 'tensor': {
      const dtype = readDType(r);
      const flags = readFlags(r, TENSOR_FLAGS, 'flags of a tensor');
      const isSplat = flags.has('splat');
      const shape = readShape(r);
      const byteOffset = r.i64('byte offset');
      const byteLength = r.i64('byte length');
      return { kind, dtype, shape, isSplat, ...deviceOf(flags), byteOffset, byteLength };
    }
    case 'shape':
      return { kind, value: readShape(r) };
    case 'string':
      return { kind, value: r.string('string') };
    case 'int':
      return { kind, value: r.i64('int') };
    case 'float':
      return { kind, value: r.f64('float') };
    case 'dtype':
      return { kind, value: readDType(r) };
    default:
      return kind satisfies never;
  }
}

/** The bits that are set, by name. */
function readFlags(
  r: ByteReader,
  bits: Readonly<Record<string, number>>,
  what: string,
): ReadonlySet<string> {
  const flags = r.u8(what);
  const names = Object.keys(bits).filter((name) => (flags & (bits[name] ?? 0)) !== 0);
  const known = names.reduce((sum, name) => sum | (bits[name] ?? 0), 0);
  if (known === flags) return new Set(names);
  throw r.error({ got: `${what} ${flags}`, expected: `bits ${Object.values(bits).join(', ')}` });
}

function deviceOf(flags: ReadonlySet<string>): { device?: 'host' } {
  return flags.has('host') ? { device: 'host' } : {};
}

function readPrimitive(r: ByteReader, minor: number): PrimitiveFunction {
  const name = r.string('primitive name');
  const flags =
    minor < PRIMITIVE_FLAGS_MINOR
      ? new Set<string>()
      : readFlags(r, PRIMITIVE_FLAGS, 'flags of a primitive');
  const inPlace = flags.has('inPlace') ? { inPlace: r.u32('parameter in place') } : {};
  const params = r.list('parameters', 5, () => readTensorType(r));
  const body = r.list('operator calls', 12, () => readOperatorCall(r));
  const results = r.list('results', 9, () => ({
    value: r.u32('result value'),
    type: readTensorType(r),
  }));
  return { name, params, body, results, ...deviceOf(flags), ...inPlace };
}

function readOperatorCall(r: ByteReader): OperatorCall {
  const op = r.string('operator name');
  const inputs = r.list('inputs', 4, () => {
    const input = r.u32('input');
    return input === 0xffff_ffff ? -1 : input;
  });
  return { op, inputs, attributes: readRecord(r, 'attributes', () => readAttribute(r)) };
}

function readAttribute(r: ByteReader): AttributeValue {
  const kind = readCodeOf(r, ATTRIBUTE_CODES, 'attribute kind');
  switch (kind) {
    case 'number':
      return r.f64('attribute');
    case 'string':
      return r.string('attribute');
    case 'boolean':
      return r.bool('attribute');
    case 'numbers':
      return r.list('items', 8, () => r.f64('item'));
    case 'strings': {
      const items = r.list('items', 4, () => r.string('item'));
      if (items.length > 0) return items;
      throw r.error({ got: 'an empty list of strings', expected: 'an empty list of numbers' });
    }
    case 'dims': {
      const items = r.list('items', 2, () => readDim(r, 0));
      if (attributeKind(items) === kind) return items;
      throw r.error({ got: 'dimensions that are a list of another kind', expected: 'that kind' });
    }
    default:
      return kind satisfies never;
  }
}

function readShapeProgram(r: ByteReader): ShapeProgram {
  return { steps: r.list('steps', 1, () => readShapeStep(r)) };
}

function readShapeStep(r: ByteReader): ShapeStep {
  const op = readCodeOf(r, SHAPE_STEP_CODES, 'shape step');
  if (op === 'const') return { op, value: r.i64('value') };
  if (op === 'load' || op === 'store') return { op, slot: r.u32('slot') };
  return { op };
}

/** Entries in strictly ascending order of their keys. */
function readRecord<T>(r: ByteReader, what: string, readValue: () => T): Record<string, T> {
  let previous: string | undefined;
  const entries = r.list(what, 5, (): [string, T] => {
    const key = r.string('key');
    if (previous !== undefined && key <= previous) {
      throw r.error({ got: `key ${JSON.stringify(key)}`, expected: `one after ${previous}` });
    }
    previous = key;
    return [key, readValue()];
  });
  // fromEntries defines own properties, so that a key `__proto__` is a key like any other.
  return Object.fromEntries(entries);
}

function readProgramTypes(r: ByteReader): ProgramTypes {
  return {
    dataTypes: r.list('data types', 12, () => readDataType(r)),
    functions: r.list('types of functions', 9, () => readFunctionType(r)),
    packed: r.list('types of packed functions', 9, () => readFunctionType(r)),
  };
}

function readDataType(r: ByteReader): DataType {
  return {
    name: r.string('name of a data type'),
    params: r.list('type parameters', 4, () => r.string('type parameter')),
    constructors: r.list('constructors', 12, () => ({
      name: r.string('name of a constructor'),
      tag: r.u32('tag'),
      fields: readTypes(r, 0),
    })),
  };
}

function readFunctionType(r: ByteReader): NamedFunctionType {
  return { name: r.string('name of a function'), params: readTypes(r, 0), result: readType(r, 0) };
}

function readTypes(r: ByteReader, depth: number): FullType[] {
  return r.list('types', 1, () => readType(r, depth));
}

function readType(r: ByteReader, depth: number): FullType {
  if (depth > format.MAX_TYPE_DEPTH) {
    throw r.error({ got: 'a deeper type', expected: `at most ${format.MAX_TYPE_DEPTH} levels` });
  }
  const kind = readCodeOf(r, format.FULL_TYPE_CODES, 'type');
  switch (kind) {
    case 'tensor':
      return { kind, ...readTensorType(r) };
    case 'tuple':
      return { kind, fields: readTypes(r, depth + 1) };
    case 'adt':
      return { kind, name: r.string('name of a data type'), args: readTypes(r, depth + 1) };
    case 'function':
      return { kind, params: readTypes(r, depth + 1), result: readType(r, depth + 1) };
    case 'type-param':
      return { kind, name: r.string('type parameter') };
    case 'opaque':
      return { kind, name: r.string('name of an opaque type') };
    default:
      return { kind };
  }
}

function readValueType(r: ByteReader): ValueType {
  const kind = readCodeOf(r, format.VALUE_TYPE_CODES, 'value type');
  return kind === 'tensor' ? { kind, ...readTensorType(r) } : { kind };
}

function readCodeOf<Name extends string>(
  r: ByteReader,
  codes: Readonly<Record<Name, number>>,
  what: string,
): Name {
  const code = r.u8(what);
  const name = format.nameOfCode(codes, code);
  if (name !== undefined) return name;
  throw r.error({ got: `${what} ${code}`, expected: Object.values(codes).join(', ') });
}

function readDType(r: ByteReader): DType {
  const code = r.u8('dtype');
  const dtype = dtypeFromCode(code);
  if (dtype !== undefined) return dtype;
  throw r.error({ got: `dtype ${code}`, expected: `a code from 1 to ${ALL_DTYPES.length}` });
}

function readTensorType(r: ByteReader): TensorType {
  return { dtype: readDType(r), shape: r.list('dimensions', 5, () => readDim(r, 0)) };
}

function readDim(r: ByteReader, depth: number): Dim {
  if (depth > format.MAX_DIM_DEPTH) {
    throw r.error({
      got: 'a deeper expression',
      expected: `at most ${format.MAX_DIM_DEPTH} levels`,
    });
  }
  const code = r.u8('dimension');
  if (code === format.DIM_INTEGER) return r.i64('dimension');
  if (code === format.DIM_SYMBOL) return r.string('dimension');
  const op = format.nameOfCode(format.DIM_OPERATOR_CODES, code);
  if (op === undefined) {
    throw r.error({ got: `dimension code ${code}`, expected: '1, 2 or that of an operator' });
  }
  const left = readDim(r, depth + 1);
  return { op, left, right: readDim(r, depth + 1) };
}
