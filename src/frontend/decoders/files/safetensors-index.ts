import { FormatError } from '../../../core/errors.ts';
import { isRecord, parseJson } from './json-record.ts';
import type { SafetensorsHead } from './safetensors.ts';
import type { StoredTensor } from './stored-tensor.ts';

/** `model.safetensors.index.json`: which file of a model holds a tensor. */
interface SafetensorsIndex {
  /** Names of the files, each once, in the order of their first tensors. */
  readonly files: readonly string[];
  readonly fileOf: ReadonlyMap<string, string>;
}

const WHERE = 'safetensors index';

/** Reads an index. Throws FormatError, also for a file that does not lie beside it. */
export function readSafetensorsIndex(text: string): SafetensorsIndex {
  const map = parseJson(text, WHERE)['weight_map'];
  if (!isRecord(map)) {
    throw new FormatError({ where: WHERE, got: 'no weight_map', expected: 'files by tensor' });
  }
  const fileOf = new Map<string, string>();
  for (const [name, file] of Object.entries(map)) {
    if (typeof file !== 'string' || !/^[\w.-]+\.safetensors$/.test(file)) {
      throw new FormatError({
        where: `${WHERE}, ${name}`,
        got: `file ${JSON.stringify(file)}`,
        expected: 'the name of a .safetensors file in the same folder',
      });
    }
    fileOf.set(name, file);
  }
  return { files: [...new Set(fileOf.values())], fileOf };
}

/**
 * The tensors of a model in several files, of which all heads are there, read under the names that the
 * index has. Throws FormatError where a file lacks a tensor that the index says it has.
 */
export function joinSafetensors(
  { fileOf }: SafetensorsIndex,
  heads: ReadonlyMap<string, SafetensorsHead>,
): ReadonlyMap<string, StoredTensor> {
  const tensors = new Map<string, StoredTensor>();
  for (const [name, file] of fileOf) {
    const tensor = heads.get(file)?.tensors.get(name);
    if (tensor === undefined) {
      throw new FormatError({
        where: `${WHERE}, ${name}`,
        got: heads.has(file) ? `no such tensor in ${file}` : `no head of ${file}`,
        expected: 'every tensor in the file that the index names',
      });
    }
    tensors.set(name, { ...tensor, file });
  }
  return tensors;
}
