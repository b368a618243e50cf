import { readdir } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import type { Inputs, Tensor, ValueInfo } from '../../client/index.ts';
import { UsageError } from '../../core/errors.ts';
import { readTensor } from '../files/tensor-file.ts';

const TENSORS = ['.json', '.npy', '.pb'];

/** A sample: a file for each input of the model. */
interface SampleFiles {
  /** The folder, or the file of a model with one input. */
  readonly path: string;
  /** The file of each input, by the input's name. */
  readonly files: Readonly<Record<string, string>>;
}

/**
 * The samples in a folder, in the order of their names: a folder each, with a file `NAME.npy`, `.pb` or `.json` for each
 * input, or `input_0.pb` and so on for inputs by their number; for a model with one input also a file each. Throws
 * UsageError where there are none, and where a file is missing or of no input.
 */
export async function findSamples(
  folder: string,
  inputs: readonly ValueInfo[],
): Promise<readonly SampleFiles[]> {
  const folders = (await list(folder)).filter((entry) => entry.isDirectory());
  const samples: SampleFiles[] = [];
  for (const { name } of folders) {
    const path = join(folder, name);
    const files = await tensorFiles(path);
    if (files.length > 0) samples.push({ path, files: filesByInput(path, files, inputs) });
  }
  const [only, ...others] = inputs;
  if (samples.length === 0 && only !== undefined && others.length === 0) {
    for (const file of await tensorFiles(folder)) {
      const path = join(folder, file);
      samples.push({ path, files: { [only.name]: path } });
    }
  }
  if (samples.length > 0) return samples;
  throw new UsageError({
    where: folder,
    got: 'no samples',
    expected: `a folder for each sample, with ${inputs.map(({ name }) => `${name}.npy`).join(', ')}`,
    remedy: 'Files may be .npy, .pb or .json.',
  });
}

/** The tensors of a sample. Throws UsageError that names the file of one with another dtype or shape. */
export async function readSample(
  { files }: SampleFiles,
  inputs: readonly ValueInfo[],
): Promise<Inputs> {
  const read = inputs.map(async (info) => {
    const path = files[info.name] ?? '';
    const tensor = await readTensor(path, info);
    requireFits(path, tensor, info);
    return [info.name, tensor] as const;
  });
  return Object.fromEntries(await Promise.all(read));
}

function requireFits(path: string, { dtype, shape }: Tensor, info: ValueInfo): void {
  const isShape =
    shape.length === info.shape.length &&
    info.shape.every((dim, axis) => typeof dim !== 'number' || dim === shape[axis]);
  if (dtype === info.dtype && isShape) return;
  throw new UsageError({
    where: path,
    got: `${dtype} [${shape.join(', ')}]`,
    expected: `${info.dtype} [${info.shape.join(', ')}] for the input "${info.name}"`,
  });
}

function filesByInput(
  path: string,
  files: readonly string[],
  inputs: readonly ValueInfo[],
): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const file of files) {
    const stem = basename(file, extname(file));
    if (/^output_\d+$/.test(stem)) continue;
    const number = /^input_(\d+)$/.exec(stem)?.[1];
    const input =
      inputs.find(({ name }) => name === stem) ??
      (number === undefined ? undefined : inputs[Number(number)]);
    if (input === undefined) {
      const names = inputs.map(({ name }) => JSON.stringify(name)).join(', ');
      const expected = `a file named after one of the inputs ${names}, or input_0 and so on`;
      throw new UsageError({ where: join(path, file), got: 'no input of that name', expected });
    }
    found[input.name] = join(path, file);
  }
  const missing = inputs.find(({ name }) => found[name] === undefined);
  if (missing === undefined) return found;
  throw new UsageError({
    where: path,
    got: `no file for the input "${missing.name}"`,
    expected: `${missing.name}.npy, .pb or .json, or input_${inputs.indexOf(missing)}`,
  });
}

async function tensorFiles(folder: string): Promise<readonly string[]> {
  const entries = await list(folder);
  return entries
    .filter((entry) => entry.isFile() && TENSORS.includes(extname(entry.name).toLowerCase()))
    .map(({ name }) => name);
}

async function list(folder: string) {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.toSorted((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }));
  } catch (cause) {
    throw new UsageError(
      { where: folder, got: 'no folder that can be read', expected: 'a folder of samples' },
      { cause },
    );
  }
}
