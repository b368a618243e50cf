import { stat, writeFile } from 'node:fs/promises';
import { dirname, extname } from 'node:path';
import { type NestedArray, Tensor, type ValueInfo } from '../../client/index.ts';
import { FormatError, UsageError } from '../../core/errors.ts';
import { readNpy, writeNpy } from './npy.ts';
import { readBytes } from './read-file.ts';

/**
 * A tensor from a `.pb` (ONNX TensorProto), `.npy` or `.json` file (nested arrays, converted to the
 * input's dtype; a flat array takes the input's shape).
 */
export async function readTensor(path: string, info: ValueInfo | undefined): Promise<Tensor> {
  const bytes = await readBytes(path);
  switch (extname(path).toLowerCase()) {
    case '.pb': {
      const { readTensorFile } = await import('../../frontend/onnx/protobuf/read-tensor.ts');
      const { dtype, data, shape } = readTensorFile(bytes).tensor;
      return new Tensor(dtype, data, shape);
    }
    case '.npy': {
      const { dtype, data, shape } = readNpy(bytes, path);
      return new Tensor(dtype, data, shape);
    }
    case '.json':
      return fromJson(new TextDecoder().decode(bytes), path, info);
    default:
      throw new UsageError({
        where: path,
        got: `a file named *${extname(path)}`,
        expected: 'a tensor in a .pb, .npy or .json file',
      });
  }
}

function fromJson(text: string, path: string, info: ValueInfo | undefined): Tensor {
  let values: unknown;
  try {
    values = JSON.parse(text);
  } catch (cause) {
    throw new FormatError({ where: path, got: String(cause), expected: 'JSON' }, { cause });
  }
  if (!isNested(values)) {
    throw new FormatError({
      where: path,
      got: 'JSON of another form',
      expected: 'a number or nested arrays of numbers or booleans',
    });
  }
  const dtype = info === undefined || isScalarKind(info.dtype) ? undefined : info.dtype;
  const shape = info?.shape.every((dim) => typeof dim === 'number')
    ? info.shape.map(Number)
    : undefined;
  const fits = flatLength(values) === shape?.reduce((product, dim) => product * dim, 1);
  return Tensor.from(values, dtype, fits ? shape : undefined);
}

function flatLength(values: NestedArray): number | undefined {
  if (!Array.isArray(values)) return undefined;
  return values.some((value) => Array.isArray(value)) ? undefined : values.length;
}

function isScalarKind(dtype: ValueInfo['dtype']): dtype is 'int' | 'float' | 'any' {
  return dtype === 'int' || dtype === 'float' || dtype === 'any';
}

function isNested(value: unknown): value is NestedArray {
  if (Array.isArray(value)) return value.every(isNested);
  return typeof value === 'number' || typeof value === 'boolean';
}

/** Throws UsageError for a file that `writeTensor` would not write, or whose folder is not there. */
export async function checkWritable(path: string): Promise<void> {
  if (!['.npy', '.json'].includes(extname(path).toLowerCase())) throw notWritable(path);
  const folder = await stat(dirname(path)).catch(() => undefined);
  if (folder?.isDirectory()) return;
  throw new UsageError({ where: path, got: 'no such folder', expected: 'a folder to write to' });
}

/** Writes a tensor as `.npy` or `.json`. */
export async function writeTensor(path: string, tensor: Tensor): Promise<void> {
  switch (extname(path).toLowerCase()) {
    case '.npy':
      return writeFile(path, writeNpy(tensor));
    case '.json':
      return writeFile(path, `${toJson(tensor.toNested(), path)}\n`);
    default:
      throw notWritable(path);
  }
}

function notWritable(path: string): UsageError {
  return new UsageError({
    where: path,
    got: `a file named *${extname(path)}`,
    expected: 'a .npy or .json file to write to',
  });
}

function toJson(value: NestedArray, path: string): string {
  if (Array.isArray(value)) return `[${value.map((item) => toJson(item, path)).join(',')}]`;
  if (typeof value !== 'number' || Number.isFinite(value)) return String(value);
  throw new UsageError({
    where: path,
    got: `the element ${value}`,
    expected: 'finite numbers: JSON has no others',
    remedy: 'Write a .npy file.',
  });
}
