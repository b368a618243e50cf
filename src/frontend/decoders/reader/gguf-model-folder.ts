import { UnsupportedError } from '../../../core/errors.ts';
import type { GgufHead } from '../files/gguf.ts';
import { type PartReader, readGgufParts } from '../files/gguf-parts.ts';
import { type GgufDecoder, ggufFolder } from '../gguf-folder.ts';
import { optionalReader, type ReadFile, readModelFolder } from './model-folder.ts';
import type { ModelFolder } from '../gguf-folder.ts';

/**
 * The metadata of a GGUF file in the form of a folder's small files. What it lacks is looked for beside it: a chat
 * template, or all files where Weft does not read its tokenizer. Rejects with UnsupportedError where neither has a tokenizer,
 * and as `readGgufParts` and `ggufTokenizer` throw.
 */
export async function readGgufFolder(
  file: string,
  read: ReadFile,
  readPart: PartReader,
): Promise<ModelFolder> {
  const head = await readGgufParts(file, readPart);
  const failures: unknown[] = [];
  const optional = optionalReader(read, failures);
  const [made, refusal] = ownFolder(head, file);
  if (made === undefined) {
    if ((await optional('tokenizer.json')) !== undefined) {
      return folderBeside(head, optional);
    }
    refusal.cause ??= failures[0];
    throw refusal;
  }
  if (made.tokenizerConfig['chat_template'] !== undefined) return made;
  const template = await optional('chat_template.jinja');
  return template === undefined
    ? made
    : { ...made, chatTemplate: new TextDecoder().decode(template) };
}

/** What the file holds itself, or why that is no tokenizer. */
function ownFolder(
  head: GgufHead,
  where: string,
): [ModelFolder] | [undefined, refusal: UnsupportedError] {
  const got = 'a GGUF file without a tokenizer, and no tokenizer.json beside it';
  const remedy = 'Copy tokenizer.json from the model that the file was converted from.';
  try {
    const made = ggufFolder(head.metadata, decoderOf(head));
    if (made !== undefined) return [made];
    return [undefined, new UnsupportedError({ where, got, expected: 'one of them', remedy })];
  } catch (error) {
    if (error instanceof UnsupportedError) return [undefined, error];
    throw error;
  }
}

/** The files beside it. Many folders of GGUF files have a config.json that says next to nothing. */
async function folderBeside(head: GgufHead, read: ReadFile): Promise<ModelFolder> {
  const { metadata } = head;
  const { architecture, config } = decoderOf(head);
  const said = {
    model_type: architecture,
    max_position_embeddings: config.contextLength,
    eos_token_id: metadata.number('tokenizer.ggml.eos_token_id'),
  };
  const nothing = new TextEncoder().encode('{}');
  const readOrNothing: ReadFile = async (name) =>
    (await read(name)) ?? (name === 'config.json' ? nothing : undefined);
  const folder = await readModelFolder(readOrNothing);
  return { ...folder, config: { ...said, ...folder.config } };
}

/**
 * As much of the decoder as small files tell. The compiler's thread checks the rest, and may end
 * the load.
 */
function decoderOf({ metadata, tensors }: GgufHead): GgufDecoder {
  const architecture = metadata.string('general.architecture') ?? 'none';
  const contextLength = metadata.number(`${architecture}.context_length`) ?? 2048;
  const [vocabulary = 0] = tensors.get('token_embd.weight')?.shape ?? [];
  return { architecture, config: { vocabulary, contextLength } };
}
