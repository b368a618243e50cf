import { UsageError } from '../../core/errors.ts';
import { ggufPartNames } from '../../frontend/decoders/files/gguf-parts.ts';
import { readSafetensorsIndex } from '../../frontend/decoders/files/safetensors-index.ts';
import type { ReadFile } from '../../frontend/decoders/reader/model-folder.ts';

/** No model has more files of weights; functions that give something for every name end there. */
const MOST_PARTS = 128;

/**
 * The files of a model that a function reads, by their names beside it: those that its weights may be in. Rejects with
 * UsageError where there is no model.
 */
export async function filesOfPage(
  file: string,
  read: ReadFile,
  signal: AbortSignal | undefined,
): Promise<Record<string, Uint8Array>> {
  const slash = file.lastIndexOf('/') + 1;
  const own = file.slice(slash);
  const bytes = await read(file, signal);
  if (bytes === undefined) {
    throw new UsageError({ where: file, got: 'no such file', expected: 'the file of a model' });
  }
  const files: Record<string, Uint8Array> = { [own]: bytes };
  const add = async (name: string): Promise<boolean> => {
    const more = await read(file.slice(0, slash) + name, signal);
    if (more !== undefined) files[name] = more;
    return more !== undefined;
  };
  if (/\.onnx$/i.test(own)) {
    // As transformers.js names them: model.onnx_data, model.onnx_data_1, …
    for (let i = 0; i < MOST_PARTS && (await add(`${own}_data${i === 0 ? '' : `_${i}`}`)); ) i++;
  } else if (/\.gguf$/i.test(own)) {
    for (const name of ggufPartNames(own)) if (name !== own) await add(name);
  } else if (/safetensors/i.test(own)) {
    await add('config.json');
    if (/\.json$/i.test(own)) {
      const index = readSafetensorsIndex(new TextDecoder().decode(bytes));
      for (const name of index.files) await add(name);
    }
  }
  return files;
}
