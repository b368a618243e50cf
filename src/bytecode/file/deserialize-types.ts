import type { ByteReader } from '../../core/bytes/byte-reader.ts';
import type { Dim } from '../../core/dims/dim.ts';
import { ALL_DTYPES, type DType, dtypeFromCode } from '../../core/tensor/dtype.ts';
import type { TensorType } from '../../core/contracts/primitive-function.ts';
import type {
  DataType,
  FullType,
  NamedFunctionType,
  ProgramTypes,
  ValueType,
} from '../executable.ts';
import * as format from './file-format.ts';

export function readProgramTypes(r: ByteReader): ProgramTypes {
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

export function readValueType(r: ByteReader): ValueType {
  const kind = readCodeOf(r, format.VALUE_TYPE_CODES, 'value type');
  return kind === 'tensor' ? { kind, ...readTensorType(r) } : { kind };
}

export function readCodeOf<Name extends string>(
  r: ByteReader,
  codes: Readonly<Record<Name, number>>,
  what: string,
): Name {
  const code = r.u8(what);
  const name = format.nameOfCode(codes, code);
  if (name !== undefined) return name;
  throw r.error({ got: `${what} ${code}`, expected: Object.values(codes).join(', ') });
}

export function readDType(r: ByteReader): DType {
  const code = r.u8('dtype');
  const dtype = dtypeFromCode(code);
  if (dtype !== undefined) return dtype;
  throw r.error({ got: `dtype ${code}`, expected: `a code from 1 to ${ALL_DTYPES.length}` });
}

export function readTensorType(r: ByteReader): TensorType {
  return { dtype: readDType(r), shape: r.list('dimensions', 5, () => readDim(r, 0)) };
}

export function readDim(r: ByteReader, depth: number): Dim {
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
