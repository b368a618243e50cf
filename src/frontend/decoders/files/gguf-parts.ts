import { FormatError, UsageError } from '../../../core/errors.ts';
import { type GgufHead, readGguf } from './gguf.ts';
import { readHeadOf } from './read-head.ts';
import type { StoredTensor } from './stored-tensor.ts';

/** Reads bytes of a file of the model, fewer at its end; undefined where there is no such file. */
export type PartReader = (
  name: string,
  begin: number,
  end: number,
) => Promise<Uint8Array | undefined>;

/** The names that llama-gguf-split gives: `model-00001-of-00003.gguf`. */
const PART_NAME = /^(.*)-(\d{5})-of-(\d{5})\.gguf$/i;

/**
 * The names of all files of a model of which one is named; that one alone for a name that is not of several:
 * https://github.com/ggml-org/llama.cpp/tree/master/tools/gguf-split.
 */
export function ggufPartNames(name: string): readonly string[] {
  const [, prefix = '', , count = ''] = PART_NAME.exec(name) ?? [];
  if (count === '') return [name];
  const end = name.slice(-'.gguf'.length);
  return Array.from(
    { length: Number(count) },
    (_, i) => `${prefix}-${String(i + 1).padStart(5, '0')}-of-${count}${end}`,
  );
}

/**
 * Reads the head of a GGUF file and, of a model in several, those of the others beside the first, whose metadata holds
 * for all of them. Tensors then say which file they are in. Rejects with UsageError for a file that is not the first or
 * not named as the others are found by, FormatError for files that do not belong together, and as `readGguf` throws.
 */
export async function readGgufParts(name: string, read: PartReader): Promise<GgufHead> {
  const headOf = (part: string): Promise<GgufHead> =>
    readHeadOf(
      part,
      (begin, end) => read(part, begin, end),
      (bytes) => readGguf(bytes, { name: part }),
    );
  const first = await headOf(name);
  const count = first.metadata.number('split.count') ?? 1;
  if (count <= 1) return first;
  const names = ggufPartNames(name);
  const [firstName = ''] = names;
  if (names.length !== count) {
    throw new UsageError({
      where: name,
      got: `one of ${count} files of a model`,
      expected: `a name that ends in -00001-of-${String(count).padStart(5, '0')}.gguf`,
      remedy: 'Name the files as llama-gguf-split wrote them: the others are found by it.',
    });
  }
  if (name !== firstName) {
    throw new UsageError({
      where: name,
      got: `another than the first of ${count} files of a model`,
      expected: firstName,
      remedy: 'Load the first; the others are read beside it.',
    });
  }
  const heads = new Map([[name, first]]);
  for (const part of names.slice(1)) heads.set(part, await headOf(part));
  return { ...first, tensors: joinParts(heads, first) };
}

function joinParts(
  heads: ReadonlyMap<string, GgufHead>,
  { metadata }: GgufHead,
): ReadonlyMap<string, StoredTensor> {
  const tensors = new Map<string, StoredTensor>();
  let index = 0;
  for (const [file, head] of heads) {
    const [at, of] = [head.metadata.number('split.no'), head.metadata.number('split.count')];
    if (at !== index || of !== heads.size) {
      throw new FormatError({
        where: file,
        got: `split.no ${at} of split.count ${of}`,
        expected: `${index} of ${heads.size}`,
        remedy: 'The files are not of one model, or renamed; fetch them again.',
      });
    }
    for (const [name, tensor] of head.tensors) {
      if (tensors.has(name)) {
        throw new FormatError({
          where: file,
          got: `tensor ${name}, which ${tensors.get(name)?.file} has`,
          expected: 'each tensor in one of the files',
        });
      }
      tensors.set(name, { ...tensor, file });
    }
    index++;
  }
  const said = metadata.number('split.tensors.count') ?? tensors.size;
  if (said === tensors.size) return tensors;
  throw new FormatError({
    where: metadata.where,
    got: `${tensors.size} tensors in ${heads.size} files`,
    expected: `${said}, as split.tensors.count says`,
  });
}
