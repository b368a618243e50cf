import { readdir, stat } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { type ExpectedValues, Tensor } from '../client/index.ts';
import { UsageError } from '../core/errors.ts';
import { readNpz } from './npz.ts';
import { readBytes } from './read-file.ts';
import { readTensor } from './tensor-file.ts';

/** Resolves to true if a path is a file or folder of values by name; any other is a program. */
export async function holdsValues(path: string): Promise<boolean> {
  return extname(path).toLowerCase() === '.npz' || (await isFolder(path));
}

/**
 * Values by their names: a `.npz` file, or a folder of `.npy`, `.pb` and `.json` files, whose names are those of the values; in
 * them a `/` of a name may be written `%2F`. Throws UsageError and FormatError.
 */
export async function readValues(path: string): Promise<ExpectedValues> {
  if (!(await isFolder(path))) {
    const tensors = readNpz(await readBytes(path), path);
    return Object.fromEntries(
      Array.from(tensors, ([name, { dtype, data, shape }]) => [
        name,
        new Tensor(dtype, data, shape),
      ]),
    );
  }
  const files = (await readdir(path)).filter((name) => /\.(npy|pb|json)$/i.test(name)).sort();
  if (files.length === 0) {
    throw new UsageError({
      where: path,
      got: 'a folder without .npy, .pb or .json files',
      expected: 'a file for each value, called by its name',
    });
  }
  const values = files.map(async (file) => {
    const tensor = await readTensor(join(path, file), undefined);
    return [basename(file, extname(file)).replaceAll(/%2F/gi, '/'), tensor] as const;
  });
  return Object.fromEntries(await Promise.all(values));
}

async function isFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() ?? false;
}
