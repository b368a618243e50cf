import type { ByteWriter } from '../../core/bytes/byte-writer.ts';
import type { Dim } from '../../core/dims/dim.ts';
import { dtypeInfo } from '../../core/tensor/dtype.ts';
import type { TensorType } from '../../core/contracts/primitive-function.ts';
import type {
  DataType,
  FullType,
  NamedFunctionType,
  ProgramTypes,
  ValueType,
} from '../executable.ts';
import { DIM_INTEGER, DIM_OPERATOR_CODES, DIM_SYMBOL, FULL_TYPE_CODES } from './file-format.ts';

export function writeList<T>(
  w: ByteWriter,
  items: readonly T[],
  write: (w: ByteWriter, item: T) => void,
): void {
  w.u32(items.length);
  for (const item of items) write(w, item);
}

export function writeProgramTypes(w: ByteWriter, types: ProgramTypes): void {
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
export function writeFullType(w: ByteWriter, type: FullType | ValueType): void {
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

export function writeTensorType(w: ByteWriter, { dtype, shape }: TensorType): void {
  w.u8(dtypeInfo(dtype).code);
  writeList(w, shape, writeDim);
}

export function writeDim(w: ByteWriter, dim: Dim): void {
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
