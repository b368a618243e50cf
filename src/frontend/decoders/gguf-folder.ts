import type { DecoderConfig } from './architectures/decoder-config.ts';
import type { GgufMetadata } from './files/gguf-metadata.ts';
import { ggufTokenizer, hasGgufTokenizer } from './files/tokenizer/gguf-tokenizer.ts';

/** The small files of a model's folder, as transformers.js has them. */
export interface ModelFolder {
  readonly config: JsonObject;
  readonly generation: JsonObject;
  readonly tokenizer: JsonObject;
  readonly tokenizerConfig: JsonObject;
  /** The text of `chat_template.jinja`. */
  readonly chatTemplate: string | undefined;
}

export type JsonObject = Readonly<Record<string, unknown>>;

/** The architecture of the decoder in a file, and its sizes. */
export interface GgufDecoder {
  readonly architecture: string;
  readonly config: Pick<DecoderConfig, 'vocabulary' | 'contextLength'>;
}

/**
 * The metadata of a GGUF file in the form of the small files in a folder of transformers.js;
 * undefined for a file without a tokenizer. Throws as `ggufTokenizer` does.
 */
export function ggufFolder(
  metadata: GgufMetadata,
  { architecture, config }: GgufDecoder,
): ModelFolder | undefined {
  if (!hasGgufTokenizer(metadata)) return undefined;
  const { tokenizer, tokenizerConfig, generationConfig } = ggufTokenizer(metadata);
  const name = metadata.string('general.name');
  return {
    config: {
      ...(name !== undefined && { _name_or_path: name }),
      model_type: architecture,
      vocab_size: config.vocabulary,
      max_position_embeddings: config.contextLength,
    },
    generation: generationConfig,
    tokenizer,
    tokenizerConfig,
    chatTemplate: undefined,
  };
}

/** The files of a folder by their names, for those that write or serve them. */
export function folderFiles({
  config,
  generation,
  tokenizer,
  tokenizerConfig,
}: ModelFolder): ReadonlyMap<string, string> {
  const files = {
    'config.json': config,
    'generation_config.json': generation,
    'tokenizer.json': tokenizer,
    'tokenizer_config.json': tokenizerConfig,
  };
  return new Map(
    Object.entries(files).map(([name, value]) => [name, `${JSON.stringify(value)}\n`]),
  );
}
