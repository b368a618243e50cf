import { type FileHandle, open } from 'node:fs/promises';
import { bindInputs } from '../client/values/bind-inputs.ts';
import { explainInputs } from '../client/explain-inputs.ts';
import { Tensor, type ValueInfo } from '../client/index.ts';
import { FileWindow } from '../core/bytes/file-window.ts';
import { formatShape } from '../core/tensor/shape.ts';
import { shortList } from '../core/short-list.ts';
import { FormatError, UnsupportedError, UsageError } from '../core/errors.ts';
import { isExecutableFile } from './files/open-executable.ts';
import { isNumber, type OpenFlags, readNumber } from './open-session.ts';
import { readStart } from './files/read-file.ts';
import { looksLikeText } from './files/read-program.ts';
import { readTensor } from './files/tensor-file.ts';

interface CheckInputsOptions extends Pick<OpenFlags, 'dim' | 'function'> {
  /** Requires every input; otherwise missing ones are random. Default false. */
  readonly needsAll?: boolean;
}

/** More than what `looksLikeText` looks at. */
const HEAD_BYTES = 4096;

/**
 * Reads the files of inputs before anything is compiled for them, which may take minutes, and compares names, types and
 * shapes with what the head of an ONNX file declares. Throws as `readTensor` does, UsageError for a file that is not there
 * or a name that the model does not have, ShapeError for types that do not fit.
 */
export async function checkInputs(
  path: string,
  given: Record<string, string>,
  { dim = {}, function: name = 'main', needsAll = false }: CheckInputsOptions,
): Promise<void> {
  const declared = name === 'main' ? await declaredInputs(path, dim) : undefined;
  const values: Record<string, Tensor | number> = {};
  for (const [input, value] of Object.entries(given)) {
    const info = declared?.find((each) => each.name === input);
    // A number stands for itself; which inputs take one is known once the program is compiled.
    const number = isNumber(value) ? Number(value) : undefined;
    values[input] = number ?? (await readTensorOrNumber(value, info));
  }
  if (declared === undefined) return;
  const isChecked = ({ name: of }: ValueInfo): boolean => {
    const value = Object.hasOwn(values, of) ? values[of] : undefined;
    return value === undefined ? needsAll : value instanceof Tensor;
  };
  const numbers = declared.filter((info) => typeof values[info.name] === 'number');
  const params = [
    ...declared.filter(isChecked),
    ...numbers.map((info): ValueInfo => ({ name: info.name, dtype: 'any', shape: [] })),
  ];
  const main = { name: 'main', params, results: [] };
  const binding = bindInputs(main, values, undefined);
  const isUnknown = Object.keys(values).some(
    (input) => !declared.some(({ name: of }) => of === input),
  );
  if (isUnknown) throw explainInputs({ ...main, params: declared }, values, binding);
  if (needsAll) requireInputs(declared, values);
  if (binding.mismatches.length > 0) throw explainInputs(main, values, binding);
}

/** Throws UsageError for inputs that are missing, with their types and how they are given. */
export function requireInputs(infos: readonly ValueInfo[], given: object): void {
  const missing = infos.filter(({ name }) => !Object.hasOwn(given, name));
  if (missing.length === 0) return;
  const names = missing.map(({ name }) => JSON.stringify(name)).join(', ');
  const options = missing.map(
    ({ name, dtype, shape }) => `--input ${name}=FILE for ${dtype} ${formatShape(shape)}`,
  );
  throw new UsageError(`inputs of main: missing ${names}. Give ${shortList(options)}.`);
}

async function readTensorOrNumber(
  value: string,
  info: ValueInfo | undefined,
): Promise<Tensor | number> {
  // A .json file with a number may be an int or a tensor, as the compiled program says.
  return (await readNumber(value)) ?? readTensor(value, info);
}

/** The inputs of an ONNX file; undefined for other programs, whose types are known at once when they are read. */
async function declaredInputs(
  path: string,
  dims: Readonly<Record<string, number>>,
): Promise<readonly ValueInfo[] | undefined> {
  if (await isExecutableFile(path)) return undefined;
  if (looksLikeText(path, await readStart(path, HEAD_BYTES))) return undefined;
  const { readOnnxInputs } = await import('../frontend/onnx/model/read-signature.ts');
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const inputs = await readOnnxInputs(new FileWindow(rangeReader(file), size));
    return inputs.map(({ name, dtype, shape }) => ({
      name,
      dtype,
      shape: shape.map((size) => (Object.hasOwn(dims, size) ? (dims[size] ?? size) : size)),
    }));
  } catch (error) {
    // Compiling says what is wrong with the model.
    if (error instanceof FormatError || error instanceof UnsupportedError) return undefined;
    throw error;
  } finally {
    await file.close();
  }
}

const rangeReader = (file: FileHandle) => async (begin: number, end: number) => {
  const bytes = new Uint8Array(end - begin);
  const { bytesRead } = await file.read(bytes, 0, bytes.byteLength, begin);
  return bytes.subarray(0, bytesRead);
};
