import { type GgufHead, readGguf } from '../../../src/frontend/decoders/files/gguf.ts';
import type { TokenizerMetadata } from '../../../src/frontend/decoders/files/testing/gguf-vocabularies.ts';
import { writeGguf } from '../../../src/frontend/decoders/files/testing/gguf-writer.ts';
import {
  ggufTokenizer,
  type TokenizerFolder,
} from '../../../src/frontend/decoders/files/tokenizer/gguf-tokenizer.ts';
import type { ReadFile } from '../../../src/frontend/decoders/reader/model-folder.ts';

/** A tokenizer that GGUF files have, as the files of transformers.js. */
export function tokenizerFolder(metadata: TokenizerMetadata): TokenizerFolder {
  const head = readGguf(writeGguf({ metadata })) as GgufHead;
  return ggufTokenizer(head.metadata);
}

/** A folder as transformers.js has them, of a tokenizer, `config.json` and the model's own files. */
export function modelFolder(
  { tokenizer, tokenizerConfig, generationConfig }: TokenizerFolder,
  config: object,
  files: Readonly<Record<string, Uint8Array>>,
): ReadFile {
  const json = (value: object): Uint8Array => new TextEncoder().encode(JSON.stringify(value));
  const all: Readonly<Record<string, Uint8Array>> = {
    'config.json': json(config),
    'generation_config.json': json(generationConfig),
    'tokenizer.json': json(tokenizer),
    'tokenizer_config.json': json(tokenizerConfig),
    ...files,
  };
  return (name) => Promise.resolve(all[name]);
}
